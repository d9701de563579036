// Runs before the page is drawn, so that a chosen theme never flashes. "auto" follows the system.

document.documentElement.dataset.theme = localStorage.getItem("weir-theme") ?? "auto";
