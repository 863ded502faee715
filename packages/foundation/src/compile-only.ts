/** True if the program is loaded only to fill Node's compile cache (script/install/compile) and must not run. */
export const compileOnly = process.env['DOCK_COMPILE_ONLY'] !== undefined
