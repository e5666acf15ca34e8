import type { Storey } from './house.ts'

/** All in pixels. */
const width = 960
const margin = 24
const gap = 8
const box = { height: 30, padding: 12, character: 7.2 }
const title = 44

const boxWidth = (name: string): number => Math.round(name.length * box.character) + 2 * box.padding

/** Distributes the units of a floor over as many rows as they need. */
function rowsOf(units: readonly string[]): readonly (readonly string[])[] {
  const rows: string[][] = [[]]
  let used = 0
  for (const unit of units) {
    const needed = boxWidth(unit) + gap
    if (used + needed > width - 4 * margin) {
      rows.push([])
      used = 0
    }
    used += needed
    rows.at(-1)?.push(unit)
  }
  return rows
}

function drawRow(units: readonly string[], top: number): string {
  const total = units.reduce((sum, unit) => sum + boxWidth(unit) + gap, -gap)
  let left = Math.round((width - total) / 2)
  const boxes = units.map((unit) => {
    const size = boxWidth(unit)
    const middle = left + size / 2
    const drawn =
      `<rect class="unit" x="${left}" y="${top}" width="${size}" height="${box.height}" rx="6"/>` +
      `<text class="name" x="${middle}" y="${top + 20}">${unit}</text>`
    left += size + gap
    return drawn
  })
  return boxes.join('\n')
}

function drawFloor(units: readonly string[], top: number): { readonly drawn: string; readonly height: number } {
  const rows = rowsOf(units)
  const height = rows.length * (box.height + gap) + gap
  const slab = `<rect class="floor" x="${margin}" y="${top}" width="${width - 2 * margin}" height="${height}" rx="8"/>`
  const drawn = rows.map((row, index) => drawRow(row, top + gap + index * (box.height + gap)))
  return { drawn: [slab, ...drawn].join('\n'), height }
}

const style = `
  text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1c2733 }
  .name { text-anchor: middle }
  .title { font: 600 17px system-ui, sans-serif }
  .floor { fill: #eef2f7 }
  .unit { fill: #fff; stroke: #b6c3d1 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e3eaf2 }
    .floor { fill: #1d2733 }
    .unit { fill: #2a3747; stroke: #46586d }
  }`

/** Draws the house as SVG: a floor is a row, and imports only from the rows below it. */
export function drawHouse(storeys: readonly Storey[]): string {
  const parts: string[] = []
  let top = 0
  for (const storey of storeys) {
    parts.push(`<text class="title" x="${margin}" y="${top + 32}">${storey.title}</text>`)
    top += title
    for (const floor of storey.floors) {
      const { drawn, height } = drawFloor(floor, top)
      parts.push(drawn)
      top += height + 4
    }
  }
  const names = storeys.map((storey) => storey.title.toLowerCase()).join(', ')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top + margin}" role="img">
<title>The floors of the ${names}: each imports only from floors below it</title>
<style>${style}
</style>
${parts.join('\n')}
</svg>
`
}
