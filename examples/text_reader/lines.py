"""Makes line images for text_reader, and compares what it read with what Tesseract read.

    lines.py render FOLDER PAGE     renders texts with free fonts, and cuts a scanned page into its lines
    lines.py strip FILE TARGET      writes a traineddata file without its dictionaries
    lines.py compare FOLDER         prints a table of FOLDER/*.tsv, and writes FOLDER/text_reader.png
"""

import statistics
import struct
import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

FONTS = [Path("/usr/share/fonts/truetype") / name for name in (
    "dejavu/DejaVuSans.ttf", "dejavu/DejaVuSerif.ttf",
    "liberation2/LiberationMono-Regular.ttf", "liberation2/LiberationSans-Regular.ttf",
    "liberation2/LiberationSerif-Regular.ttf", "liberation2/LiberationSerif-Italic.ttf")]
TEXTS = ["GPL-3", "Apache-2.0"]  # in Debian's base-files
LINES_PER_TEXT = 50
# The lines of scikit-image's page.png, which bend downwards a little: left, top, right, bottom.
PAGE_LINES = {
    (2, 8, 306, 38): "Region-based segmentation",
    (2, 46, 380, 68): "Let us first determine markers of the coins and the",
    (2, 65, 380, 84): "background. These markers are pixels that we can label",
    (2, 83, 380, 102): "unambiguously as either object or background. Here,",
    (2, 100, 380, 119): "the markers are found at the two extreme parts of the",
    (2, 116, 380, 136): "histogram of grey values:",
    (12, 166, 248, 191): ">>> markers = np.zeros_like(coins)",
}


def lines_of(name):
    """The lines of a text that fill most of their width, with single spaces."""
    text = Path("/usr/share/common-licenses", name).read_text()
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in lines if len(line) > 45][:LINES_PER_TEXT]


def render(text, font):
    left, top, right, bottom = font.getbbox(text)
    image = Image.new("L", (right - left + 20, bottom - top + 16), 255)
    ImageDraw.Draw(image).text((10 - left, 8 - top), text, font=font, fill=0)
    return image


def make_lines(folder, page):
    folder.mkdir(parents=True, exist_ok=True)
    fonts = [ImageFont.truetype(str(path), size) for size in (32, 40, 24) for path in FONTS]
    texts = [line for name in TEXTS for line in lines_of(name)]
    for number, text in enumerate(texts):
        render(text, fonts[number % len(fonts)]).save(folder / f"rendered_{number:03}.png")
        (folder / f"rendered_{number:03}.txt").write_text(text)
    scan = Image.open(page).convert("L")
    for number, (box, text) in enumerate(PAGE_LINES.items()):
        scan.crop(box).save(folder / f"scanned_{number:03}.png", icc_profile=None)
        (folder / f"scanned_{number:03}.txt").write_text(text)


def strip_dictionaries(path, target):
    """Writes the file without its components 18 to 20, which are words: Tesseract has no other switch for them."""
    data = path.read_bytes()
    count, = struct.unpack_from("<I", data)
    offsets = struct.unpack_from(f"<{count}q", data, 4)
    table, body = [-1] * count, b""
    for number, begin in enumerate(offsets):
        if begin >= 0 and number not in (18, 19, 20):
            end = next((offset for offset in offsets[number + 1:] if offset >= 0), len(data))
            table[number] = 4 + 8 * count + len(body)
            body += data[begin:end]
    target.write_bytes(struct.pack(f"<I{count}q", count, *table) + body)


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        diagonal, row[0] = row[0], i + 1
        for j, y in enumerate(b):
            diagonal, row[j + 1] = row[j + 1], min(diagonal + (x != y), row[j] + 1, row[j + 1] + 1)
    return row[-1]


def agreement(read, reference):
    """The characters of `reference` that `read` has, in percent: 100 (1 - edit distance / length)."""
    errors = sum(edit_distance(read[name], reference[name]) for name in reference)
    return 100 * (1 - errors / sum(map(len, reference.values())))


def read_table(path):
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    return ({Path(row[0]).stem: row[2] for row in rows}, {Path(row[0]).stem: float(row[1]) for row in rows})


def draw(folder, names, texts, times, peer_times):
    """Draws the text that was read under each image."""
    font = ImageFont.truetype(str(FONTS[0]), 18)
    images = [Image.open(folder / f"{name}.png") for name in names]
    width = 900
    images = [image.resize((width, round(image.height * width / image.width))) for image in images]
    picture = Image.new("L", (width + 40, sum(image.height + 70 for image in images) + 20), 245)
    pen, y = ImageDraw.Draw(picture), 20
    for name, image in zip(names, images):
        picture.paste(image, (20, y))
        y += image.height + 6
        pen.text((20, y), texts[name], font=font, fill=0)
        pen.text((20, y + 24), f"{times[name]:.1f} ms, Tesseract {peer_times[name]:.1f} ms", font=font, fill=110)
        y += 64
    picture.quantize(16).save(folder / "text_reader.png", optimize=True)


def compare(folder):
    text, time = read_table(folder / "text_reader.tsv")
    peer, peer_time = read_table(folder / "tesseract.tsv")
    bare, bare_time = read_table(folder / "tesseract_no_dictionary.tsv")
    truth = {path.stem: path.read_text() for path in sorted(folder.glob("*.txt"))}
    result = 0
    print("| lines | characters | as tesseract, % | as tesseract without dictionary, % | ms a line | tesseract, ms "
          "| without dictionary, ms | ratio |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    for kind in ("rendered", "scanned", ""):
        names = [name for name in peer if name.startswith(kind)]
        part = lambda table: {name: table[name] for name in names}
        mean = lambda table: statistics.fmean(part(table).values())
        same, ratio = agreement(part(text), part(peer)), mean(time) / mean(bare_time)
        print(f"| {kind or 'all'} {len(names)} | {sum(len(peer[name]) for name in names)} | {same:.2f} "
              f"| {agreement(part(text), part(bare)):.2f} | {mean(time):.2f} | {mean(peer_time):.2f} "
              f"| {mean(bare_time):.2f} | {ratio:.2f} |")
        if kind == "" and (same < 99 or ratio > 0.5):
            result = 1
    for kind in ("rendered", "scanned"):
        part = {name: line for name, line in truth.items() if name.startswith(kind)}
        print(f"right characters of {kind} lines: {agreement(text, part):.2f} %, tesseract {agreement(peer, part):.2f} %, "
              f"without dictionary {agreement(bare, part):.2f} %")
    for name in peer:
        if text[name] != bare[name]:
            print(f"{name}\n    text_reader  {text[name]}\n    tesseract    {peer[name]}\n    - dictionary {bare[name]}")
    scanned = [name for name in peer if name.startswith("scanned")]
    draw(folder, ["rendered_000", "rendered_022", "rendered_041"] + scanned, text, time, peer_time)
    return result


if __name__ == "__main__":
    if sys.argv[1] == "render":
        make_lines(Path(sys.argv[2]), sys.argv[3])
    elif sys.argv[1] == "strip":
        strip_dictionaries(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        sys.exit(compare(Path(sys.argv[2])))
