// In the lab of the site: an address that ends with #a-heading opens its notebook at this heading, which is made the
// active cell. JupyterLite alone drops the end of the address.
const letters = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
const heading = letters(decodeURIComponent(window.location.hash));
const isHeading = (line) => /^#+ /.test(line) && letters(line) === heading;
if (heading) {
  const waiting = setInterval(() => {
    const panel = window.jupyterapp?.shell.currentWidget;
    if (!panel?.context?.isReady || !panel.content?.widgets?.length) return;
    const { widgets, outerNode } = panel.content;
    const cell = widgets.find(({ model }) => model.type === "markdown" && model.sharedModel.getSource().split("\n").some(isHeading));
    if (cell && !cell.node.isConnected) {
      outerNode.scrollTop = outerNode.scrollHeight; // JupyterLab draws the cells below as somebody scrolls to them
      return;
    }
    clearInterval(waiting);
    if (!cell) return;
    panel.content.activeCellIndex = widgets.indexOf(cell);
    cell.node.scrollIntoView();
  }, 200);
}
