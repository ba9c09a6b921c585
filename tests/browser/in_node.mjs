// Runs a notebook in Node as JupyterLite's kernel would: node in_node.mjs PYODIDE WHEELS DRIVE NOTEBOOK
//
// PYODIDE is a distribution, WHEELS a folder of what is loaded besides, DRIVE a folder that stands for the drive
// of the browser, and NOTEBOOK a path in it. Prints a line of JSON for each cell of code that has run.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const [pyodideFolder, wheels, drive, notebook] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(pyodideFolder, "pyodide.mjs")));
const quiet = { messageCallback: () => {} };
const pyodide = await loadPyodide({ indexURL: pyodideFolder + "/", stdout: () => {}, stderr: () => {} });
await pyodide.loadPackage(["matplotlib", "numpy", "pillow", "tqdm", "ipython"], quiet);
const names = readdirSync(wheels).filter((name) => name.endsWith(".whl"));
await pyodide.loadPackage(names.map((name) => join(wheels, name)), quiet);
pyodide.FS.mkdirTree("/drive");
pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, { root: drive }, "/drive");
await pyodide.runPythonAsync(`import os, pyodide_kernel; os.chdir("/drive/${dirname(notebook)}")`);

const plain = (thing) => (thing?.toJs ? thing.toJs({ dict_converter: Object.fromEntries }) : thing);
const { kernel_instance: kernel, stdout_stream, stderr_stream } = pyodide.globals.get("pyodide_kernel");
const shell = kernel.interpreter;
let said;
const hear = (kind) => (...parts) => said.push([kind, ...parts.map(plain)]);
kernel._parent_header = pyodide.toPy({ header: {} });
shell.send_comm = () => {};
stdout_stream.publish_stream_callback = hear("stream");
stderr_stream.publish_stream_callback = hear("stream");
shell.display_pub.clear_output_callback = hear("clear");
shell.display_pub.display_data_callback = hear("display");
shell.display_pub.update_display_data_callback = hear("update");
shell.displayhook.publish_execution_result = hear("result");

const { cells } = JSON.parse(readFileSync(join(drive, notebook), "utf8"));
for (const [place, cell] of cells.entries()) {
  if (cell.cell_type !== "code") continue;
  said = [];
  const { status, traceback } = plain(await kernel.run([cell.source].flat().join("")));
  console.log(JSON.stringify({ place, status, traceback, said }));
}
await new Promise((done) => process.stdout.write("", done)); // the last line is long, and may be on its way
process.exit(0);
