// SPDX-License-Identifier: Apache-2.0
// Shows the page of the course's slides one slide at a time: a button, or "#slide=3" in the address. Right and Left turn, Escape ends.

function slides_of(block) {
  const slides = [document.createElement("section")];
  slides[0].append(Object.assign(document.createElement("h1"), {textContent: document.querySelector(".title").textContent.trim()}));
  for (const node of [...block.childNodes]) {
    if (node.nodeName === "HR") slides.push(document.createElement("section"));
    else slides.at(-1).append(node.cloneNode(true));
  }
  return slides;
}

function present(slides, first) {
  const stage = Object.assign(document.createElement("div"), {className: "stage"});
  let at;
  const show = (number) => {
    at = Math.min(Math.max(number, 1), slides.length);
    const place = Object.assign(document.createElement("small"), {textContent: `${at} / ${slides.length}`});
    stage.replaceChildren(slides[at - 1], place);
    history.replaceState(null, "", `#slide=${at}`);
  };
  const turn = (event) => {
    const step = {ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1}[event.key];
    if (event.key === "Escape") {
      stage.remove();
      document.removeEventListener("keydown", turn, true);
      history.replaceState(null, "", location.pathname);
    } else if (step) {
      show(at + step);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  document.addEventListener("keydown", turn, true);
  document.body.append(stage);
  show(first);
}

function start_slides() {
  const block = document.querySelector(".textblock");
  const slides = slides_of(block);
  const button = Object.assign(document.createElement("button"), {type: "button", textContent: "Present"});
  button.addEventListener("click", () => present(slides, 1));
  block.prepend(button);
  const wanted = /^#slide=(\d+)$/.exec(location.hash);
  if (wanted) present(slides, Number(wanted[1]));
}

if (location.pathname.endsWith("/md_docs_course_slides.html")) start_slides();
