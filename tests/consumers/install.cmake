# Installs what BUILD made into SCRATCH/prefix; nothing of an earlier run stays in SCRATCH, where the consumers are built, too.

file(REMOVE_RECURSE ${SCRATCH})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix COMMAND_ERROR_IS_FATAL ANY)
