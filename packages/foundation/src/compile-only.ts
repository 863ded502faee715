/** Whether the program is only loaded, so that Node keeps it compiled (script/install/compile), and is not to run. */
export const compileOnly = process.env['DOCK_COMPILE_ONLY'] !== undefined
