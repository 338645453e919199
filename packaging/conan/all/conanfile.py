from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain
from conan.tools.files import copy, get, rmdir
from conan.tools.layout import basic_layout
import os

required_conan_version = ">=2"


class XloomConan(ConanFile):
    name = "xloom"
    description = "Structured recurrences, scatter and gather with exact ONNX semantics, on xtensor"
    license = "BSD-3-Clause"
    url = "https://github.com/conan-io/conan-center-index"
    homepage = "https://github.com/OWNER/xloom"
    topics = ("onnx", "tensors", "scan", "lstm", "simd", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    def layout(self):
        basic_layout(self, src_folder="src")

    def requirements(self):
        self.requires("xtensor/0.27.1")
        # The one that xtensor's recipe asks for.
        self.requires("xsimd/13.2.0")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.22]")

    def package_id(self):
        self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def generate(self):
        tc = CMakeToolchain(self)
        tc.cache_variables["XLOOM_BUILD_TESTS"] = False
        tc.generate()
        deps = CMakeDeps(self)
        deps.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        cmake = CMake(self)
        cmake.install()
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "xloom")
        self.cpp_info.set_property("cmake_target_name", "xloom::xloom")
        self.cpp_info.set_property("pkg_config_name", "xloom")
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
