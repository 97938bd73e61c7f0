# embed_files(target function DIR dir PATTERN glob): a library with `instantstart::embedded::<function>()`, the files of a folder
# (recursively) by their path below it. The bytes come in by .incbin, so even megabytes compile at once.
include_guard()

function(embed_files target function)
  cmake_parse_arguments(ARG "" "DIR;PATTERN" "" ${ARGN})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${ARG_DIR}/${ARG_PATTERN})
  set(assembly "")
  set(externs "")
  set(rows "")
  set(index 0)
  foreach(file ${files})
    file(RELATIVE_PATH path ${ARG_DIR} ${file})
    set(symbol "embedded_${function}_${index}")
    string(APPEND assembly "asm(\".section .rodata\\n.balign 16\\n.global ${symbol}\\n${symbol}:\\n.incbin \\\"${file}\\\"\\n.global ${symbol}_end\\n${symbol}_end:\\n.byte 0\\n.text\\n\");\n")
    string(APPEND externs "extern const char ${symbol}[];\nextern const char ${symbol}_end[];\n")
    string(APPEND rows "        {\"${path}\", {${symbol}, static_cast<std::size_t>(${symbol}_end - ${symbol})}},\n")
    math(EXPR index "${index} + 1")
  endforeach()
  set(source ${CMAKE_BINARY_DIR}/embedded/${function}.cc)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
#include "base/embedded.h"

@assembly@
extern "C" {
@externs@
}

namespace instantstart::embedded {

const std::vector<base::EmbeddedFile>& @function@() {
    static const std::vector<base::EmbeddedFile> kFiles = {
@rows@    };
    return kFiles;
}

}  // namespace instantstart::embedded
]])
  add_library(${target} STATIC ${source})
  target_link_libraries(${target} PUBLIC project_flags)
  if(files)
    set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${files}")
  endif()
endfunction()
