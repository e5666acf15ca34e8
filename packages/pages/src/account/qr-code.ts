// QR codes for texts of up to 271 bytes, in the byte mode with the error correction level L (ISO/IEC 18004).

/** Bytes of data, and of error correction for each block, by version. Versions 1 to 5 have one block, later ones more. */
const versions: readonly (readonly [data: number, correction: number, blocks: number])[] = [
  [19, 7, 1],
  [34, 10, 1],
  [55, 15, 1],
  [80, 20, 1],
  [108, 26, 1],
  [136, 18, 2],
  [156, 20, 2],
  [194, 24, 2],
  [232, 30, 2],
  [274, 18, 4],
]

/** Multiplies in GF(2^8) with the polynomial 0x11D. */
function multiply(left: number, right: number): number {
  let product = 0
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >> 7) * 0x11d)
    product ^= ((right >> bit) & 1) * left
  }
  return product & 255
}

function divisorOf(degree: number): number[] {
  const result = [...Array<number>(degree - 1).fill(0), 1]
  let root = 1
  for (let index = 0; index < degree; index += 1) {
    for (let at = 0; at < degree; at += 1) result[at] = multiply(result[at] ?? 0, root) ^ (result[at + 1] ?? 0)
    root = multiply(root, 2)
  }
  return result
}

function correctionOf(data: readonly number[], divisor: readonly number[]): readonly number[] {
  const result = divisor.map(() => 0)
  for (const byte of data) {
    const factor = byte ^ (result.shift() ?? 0)
    result.push(0)
    divisor.forEach((coefficient, index) => {
      result[index] = (result[index] ?? 0) ^ multiply(coefficient, factor)
    })
  }
  return result
}

/** The bytes of the symbol: mode, length and text, padded, in interleaved blocks with their error correction. */
function codewords(text: Uint8Array, version: number): readonly number[] {
  const [size, correction, count] = versions[version - 1] ?? [0, 0, 1]
  const length = text.length.toString(2).padStart(version < 10 ? 8 : 16, '0')
  const bits = `0100${length}${[...text].map((byte) => byte.toString(2).padStart(8, '0')).join('')}0000`
  const data = (bits.match(/.{1,8}/gu) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)).slice(0, size)
  for (let pad = 0xec; data.length < size; pad ^= 0xec ^ 0x11) data.push(pad)
  const short = Math.floor(size / count)
  const blocks: (readonly number[])[] = []
  for (let start = 0; blocks.length < count; ) {
    const end = start + short + (blocks.length >= count - (size % count) ? 1 : 0)
    blocks.push(data.slice(start, end))
    start = end
  }
  const divisor = divisorOf(correction)
  const corrections = blocks.map((block) => correctionOf(block, divisor))
  const interleaved = (parts: readonly (readonly number[])[]) =>
    Array.from({ length: Math.max(...parts.map((part) => part.length)) }, (_, index) =>
      parts.flatMap((part) => part[index] ?? []),
    ).flat()
  return [...interleaved(blocks), ...interleaved(corrections)]
}

type Modules = (boolean | undefined)[][]

const alignmentOf = (version: number): readonly number[] =>
  version === 1 ? [] : version < 7 ? [6, version * 4 + 10] : [6, version * 2 + 8, version * 4 + 10]

/** The remainder of a division of polynomials over GF(2). */
function remainderOf(value: number, divisor: number, degree: number): number {
  let rest = value
  for (let bit = 0; bit < degree; bit += 1) rest = (rest << 1) ^ ((rest >> (degree - 1)) * divisor)
  return rest
}

function drawPatterns(modules: Modules, version: number): void {
  const size = modules.length
  const set = (x: number, y: number, isDark: boolean): void => {
    const row = modules[y]
    if (row !== undefined && x >= 0 && x < size) row[x] = isDark
  }
  for (let at = 0; at < size; at += 1) {
    set(6, at, at % 2 === 0)
    set(at, 6, at % 2 === 0)
  }
  const square = (x: number, y: number, radius: number, isDark: (distance: number) => boolean): void => {
    for (let dy = -radius; dy <= radius; dy += 1) {
      for (let dx = -radius; dx <= radius; dx += 1) set(x + dx, y + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))))
    }
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    square(x, y, 4, (far) => far !== 2 && far !== 4)
  const centers = alignmentOf(version)
  const last = centers.at(-1)
  for (const x of centers) {
    for (const y of centers) {
      const isFinder = (x === 6 && (y === 6 || y === last)) || (x === last && y === 6)
      if (!isFinder) square(x, y, 2, (far) => far !== 1)
    }
  }
  if (version >= 7) {
    const bits = (version << 12) | remainderOf(version, 0x1f25, 12)
    for (let index = 0; index < 18; index += 1) {
      const far = size - 11 + (index % 3)
      const near = Math.floor(index / 3)
      set(far, near, ((bits >> index) & 1) === 1)
      set(near, far, ((bits >> index) & 1) === 1)
    }
  }
}

/** Writes the level L and the mask. */
function drawFormat(modules: Modules, mask: number): void {
  const size = modules.length
  const data = (1 << 3) | mask
  const bits = ((data << 10) | remainderOf(data, 0x537, 10)) ^ 0x5412
  const set = (x: number, y: number, index: number): void => {
    const row = modules[y]
    if (row !== undefined) row[x] = ((bits >> index) & 1) === 1
  }
  for (let index = 0; index < 6; index += 1) set(8, index, index)
  set(8, 7, 6)
  set(8, 8, 7)
  set(7, 8, 8)
  for (let index = 9; index < 15; index += 1) set(14 - index, 8, index)
  for (let index = 0; index < 8; index += 1) set(size - 1 - index, 8, index)
  for (let index = 8; index < 15; index += 1) set(8, size - 15 + index, index)
  const row = modules[size - 8]
  if (row !== undefined) row[8] = true
}

/** Writes the bytes in columns of two, upwards and downwards, with the mask 0 (every second module). */
function drawData(modules: Modules, bytes: readonly number[]): void {
  const size = modules.length
  let bit = 0
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5
    for (let step = 0; step < size; step += 1) {
      const y = ((right + 1) & 2) === 0 ? size - 1 - step : step
      for (const x of [right, right - 1]) {
        const row = modules[y]
        if (row === undefined || row[x] !== undefined) continue
        const isSet = (((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1
        row[x] = isSet !== ((x + y) % 2 === 0)
        bit += 1
      }
    }
  }
}

/** Returns the modules of a QR code, row by row: `true` is dark. `undefined` for a text that is too long. */
export function qrCode(text: string): readonly (readonly boolean[])[] | undefined {
  const bytes = new TextEncoder().encode(text)
  const index = versions.findIndex(([size], at) => bytes.length <= size - (at < 9 ? 2 : 3))
  if (index === -1) return undefined
  const version = index + 1
  const size = version * 4 + 17
  const modules: Modules = Array.from({ length: size }, () => Array<boolean | undefined>(size).fill(undefined))
  drawPatterns(modules, version)
  drawFormat(modules, 0)
  drawData(modules, codewords(bytes, version))
  return modules.map((row) => row.map((isDark) => isDark === true))
}
