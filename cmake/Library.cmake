# libtroupe: the modules of the table so far as one shared and one static library, and how they are installed.
# Only what include/troupe declares is visible in either.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(library_objects "")
foreach(module ${troupe_modules})
  list(APPEND library_objects $<TARGET_OBJECTS:troupe_${module}>)
endforeach()
# What a program links beside the static library, by name.
set(library_needs jansson spqr cholmod amd lapacke openblas ${OpenMP_C_LIB_NAMES} m)

add_library(troupe_shared SHARED ${library_objects})
target_link_libraries(troupe_shared PRIVATE troupe_flags ${troupe_packages})
set_target_properties(troupe_shared PROPERTIES OUTPUT_NAME troupe EXPORT_NAME troupe LINKER_LANGUAGE C
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# The static library is one object whose internal names are local, so that they cannot meet the host's.
set(merged ${CMAKE_BINARY_DIR}/troupe_merged.o)
add_custom_command(OUTPUT ${merged}
  COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${merged} ${library_objects}
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${merged}
  DEPENDS ${library_objects} COMMAND_EXPAND_LISTS VERBATIM COMMENT "Merging libtroupe.a")
set_source_files_properties(${merged} PROPERTIES GENERATED ON EXTERNAL_OBJECT ON)
add_library(troupe_static STATIC ${merged})
target_link_libraries(troupe_static INTERFACE ${library_needs})
set_target_properties(troupe_static PROPERTIES OUTPUT_NAME troupe LINKER_LANGUAGE C)

foreach(library troupe_shared troupe_static)
  target_include_directories(${library} INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/troupe)
list(TRANSFORM library_needs PREPEND -l OUTPUT_VARIABLE private_libraries)
list(REMOVE_ITEM private_libraries -ljansson) # has a .pc of its own
list(JOIN private_libraries " " private_libraries)
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /) # so that the folder can be moved
configure_file(cmake/troupe.pc.in troupe.pc @ONLY)
configure_package_config_file(cmake/troupeConfig.cmake.in troupeConfig.cmake INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(troupeConfigVersion.cmake COMPATIBILITY SameMinorVersion)

install(TARGETS troupe_shared troupe_static EXPORT troupe COMPONENT library)
install(DIRECTORY include/troupe TYPE INCLUDE COMPONENT library)
install(EXPORT troupe NAMESPACE troupe:: FILE troupeTargets.cmake DESTINATION ${config_folder} COMPONENT library)
install(FILES ${CMAKE_BINARY_DIR}/troupeConfig.cmake ${CMAKE_BINARY_DIR}/troupeConfigVersion.cmake
  DESTINATION ${config_folder} COMPONENT library)
install(FILES ${CMAKE_BINARY_DIR}/troupe.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)

set(TROUPE_PYTHON_DIR "lib/python3/dist-packages" CACHE STRING "Where the Python module goes, within the prefix")
install(DIRECTORY python/troupe DESTINATION ${TROUPE_PYTHON_DIR} COMPONENT library PATTERN __pycache__ EXCLUDE)
