// A layered drawing of an acyclic graph: layers by longest path, order within a layer by the mean of neighbours.

export function layered(nodes, edges) {
  const ids = new Set(nodes.map((node) => node.id));
  const kept = edges.filter(([from, to]) => ids.has(from) && ids.has(to) && from !== to);
  const layer = new Map(nodes.map((node) => [node.id, 0]));
  for (let round = 0, moved = true; moved && round < nodes.length; round += 1) {
    moved = false;
    for (const [from, to] of kept) {
      if (layer.get(to) > layer.get(from)) continue;
      layer.set(to, layer.get(from) + 1);
      moved = true;
    }
  }
  // A source stands right above what it feeds, not at the top of the page.
  for (const node of nodes) {
    const next = kept.filter(([from]) => from === node.id).map(([, to]) => layer.get(to));
    if (next.length && !kept.some(([, to]) => to === node.id)) layer.set(node.id, Math.min(...next) - 1);
  }
  const least = Math.min(0, ...layer.values());
  const rows = [];
  for (const node of nodes) (rows[layer.get(node.id) - least] ??= []).push(node);
  const filled = rows.filter(Boolean);
  for (let sweep = 0; sweep < 6; sweep += 1) order(filled, kept, sweep % 2 === 0);
  return { rows: filled, edges: kept };
}

function order(rows, edges, downwards) {
  const place = new Map();
  for (const row of rows) row.forEach((node, i) => place.set(node.id, i - (row.length - 1) / 2));
  for (const row of downwards ? rows : [...rows].reverse()) {
    const mean = new Map(row.map((node) => {
      const near = edges.flatMap(([from, to]) => (downwards && to === node.id ? [place.get(from)]
        : !downwards && from === node.id ? [place.get(to)] : []));
      return [node.id, near.length ? near.reduce((sum, one) => sum + one, 0) / near.length : place.get(node.id)];
    }));
    row.sort((one, other) => mean.get(one.id) - mean.get(other.id));
    row.forEach((node, i) => place.set(node.id, i - (row.length - 1) / 2));
  }
}
