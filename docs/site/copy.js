// SPDX-License-Identifier: Apache-2.0
// A button beside each block of commands or code. Of a block with commands after "$ " it copies these, without the prompt and without what they print.

function to_copy(text) {
  const lines = text.replace(/\u00a0/g, " ").split("\n");
  if (!lines.some((line) => line.startsWith("$ "))) return lines.map((line) => line.trimEnd()).join("\n").trim() + "\n";
  const commands = [];
  let continued = false;
  for (const line of lines) {
    const begins = line.startsWith("$ ");
    if (begins || continued) commands.push(begins ? line.slice(2) : line);
    continued = (begins || continued) && line.endsWith("\\");
  }
  return commands.join("\n") + "\n";
}

function text_of(block) {
  const lines = [...block.querySelectorAll(":scope > .line")];
  return lines.length ? lines.map((line) => line.textContent).join("\n") : block.textContent;
}

function add_button(block) {
  const text = to_copy(text_of(block));
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  });
  block.before(button);
}

document.querySelectorAll(".contents .fragment").forEach(add_button);
