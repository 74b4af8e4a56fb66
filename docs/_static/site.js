/* Boxes that scroll can be reached with the keyboard; those that do not scroll are not in the way. */
function reachable() {
  document.querySelectorAll("article pre, .table-wrapper, div.math, .wide").forEach((box) => {
    if (box.scrollWidth > box.clientWidth + 1) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  });
}
addEventListener("load", reachable);
addEventListener("resize", reachable);

/* A menu of versions, if the site is published beside others (scripts/docs --publish). */
addEventListener("DOMContentLoaded", () => {
  const versions = window.siteVersions || [];
  const brand = document.querySelector(".sidebar-brand");
  if (versions.length < 2 || !brand) return;
  const root = new URL(document.documentElement.dataset.content_root || "./", location.href);
  const here = root.pathname.split("/").filter(Boolean).pop();
  const menu = document.createElement("select");
  menu.className = "versions";
  menu.setAttribute("aria-label", "Version of the documentation");
  for (const version of versions) menu.add(new Option(version, version, false, version === here));
  menu.addEventListener("change", () => {
    location.href = new URL(`../${menu.value}/index.html`, root).href;
  });
  brand.after(menu);
});
