"use strict";

const SECONDS = 2;
const sections = [];

function element(parent, tag, text = "", name = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (name) made.className = name;
  parent.append(made);
  return made;
}

function section(number) {
  const box = element(document.getElementById("runs"), "section");
  const parts = { heading: element(box, "h2"), bar: element(box, "progress") };
  parts.facts = element(box, "p");
  parts.numbers = element(box, "p", "", "state");
  parts.warnings = element(box, "p", "", "warning");
  parts.pictures = element(box, "div", "", "pictures");
  parts.images = {};
  parts.phases = element(box, "div");
  parts.log = element(box, "pre");
  const buttons = element(box, "p");
  parts.answer = element(box, "p", "", "state");
  button(buttons, "Write a snapshot", () => order(number, { dump: true }));
  button(buttons, "Stop with a checkpoint", () => {
    if (confirm("Stop this run? It can go on with --restart latest.")) order(number, { stop: true });
  });
  button(buttons, "Change intervals", () => {
    const text = prompt("Time between snapshots, in the run's unit");
    if (text !== null && text !== "") order(number, { snapshot_interval: Number(text) });
  });
  return parts;
}

function button(parent, text, action) {
  element(parent, "button", text).addEventListener("click", action);
}

async function order(number, what) {
  const body = JSON.stringify(what);
  const headers = { "Content-Type": "application/json" };
  const reply = await fetch(`${number}/control`, { method: "POST", headers, body });
  sections[number].answer.textContent = reply.ok
    ? "The run does so after its step." : await reply.text();
}

function show(number, run) {
  const parts = sections[number] ??= section(number);
  parts.heading.textContent = run.name + " ";
  element(parts.heading, "span", run.state, `state ${run.state}`);
  parts.bar.value = run.share;
  parts.facts.textContent =
    `${(100 * run.share).toFixed(0)} %, step ${run.step}, ${run.when}; ${run.pace} a step, ` +
    `${run.left_words} left; wrote ${run.quiet_words} ago`;
  parts.numbers.textContent = Object.entries(run.numbers)
    .map(([name, value]) =>
      `${name} ${value === null ? "not finite" : Number(value.toPrecision(5))}`).join(", ");
  parts.warnings.textContent = run.warnings.slice(-3).join("\n");
  for (const [name, version] of Object.entries(run.pictures)) {
    const image = parts.images[name] ??= element(element(parts.pictures, "a"), "img");
    image.alt = `${name} of ${run.name}`;
    const source = `${number}/${name}?${version}`;
    image.parentElement.href = source;  // in full size
    image.parentElement.target = "_blank";
    if (image.getAttribute("src") !== source) image.setAttribute("src", source);
  }
  parts.phases.replaceChildren();
  const imbalance = run.telemetry.imbalance;
  if (imbalance) {
    element(parts.phases, "p", `work of the slowest rank over the mean: ${imbalance.toFixed(2)}`);
  }
  for (const [phase, share] of Object.entries(run.telemetry.phases ?? {})) {
    const row = element(parts.phases, "div", "", "phase");
    element(row, "span", phase);
    element(row, "meter").value = share;
    element(row, "span", `${(100 * share).toFixed(1)} %`);
  }
  parts.log.textContent = run.log.join("\n");
}

async function look() {
  const trouble = document.getElementById("trouble");
  try {
    const reply = await fetch("state.json");
    if (!reply.ok) throw new Error(await reply.text());
    (await reply.json()).forEach((run, number) => show(number, run));
    trouble.textContent = "";
  } catch (error) {
    trouble.textContent = `octools watch does not answer: ${error.message}`;
  }
  setTimeout(look, 1000 * SECONDS);
}

look();
