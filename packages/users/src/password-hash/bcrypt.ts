/**
 * Returns the first bits of the fraction of π in words of 32 bits, which are the constants of Blowfish: computed in a few
 * milliseconds, they need no table of 4 KiB that a reader would have to compare.
 */
export function fractionOfPi(words: number): Uint32Array {
  const guard = 64n
  const bits = BigInt(words) * 32n
  const unit = 1n << (bits + guard)
  /** The arcus tangent of 1/n. */
  function arctan(n: bigint): bigint {
    const square = n * n
    let power = unit / n
    let sum = power
    for (let k = 3n, sign = -1n; power > 0n; k += 2n, sign = -sign) {
      power /= square
      sum += (sign * power) / k
    }
    return sum
  }
  // Machin, 1706.
  const pi = 16n * arctan(5n) - 4n * arctan(239n)
  const fraction = (pi - 3n * unit) >> guard
  return Uint32Array.from({ length: words }, (_, index) =>
    Number((fraction >> (bits - 32n * BigInt(index + 1))) & 0xffffffffn),
  )
}

// Blowfish (Schneier, 1994) and bcrypt (Provos and Mazières, 1999), for runtimes that have neither threads nor
// WebAssembly from bytes, such as Cloudflare Workers. Other runtimes use hash-wasm, which is three times as fast.

/** The subkeys and the four boxes: the fraction of π in words of 32 bits. */
interface State {
  readonly keys: Uint32Array
  readonly boxes: Uint32Array
}

const keyCount = 18
const boxCount = 1024
/** `OrpheanBeholderScryDoubt`. */
const text = [0x4f727068, 0x65616e42, 0x65686f6c, 0x64657253, 0x63727944, 0x6f756274] as const
/** Rounds after which other requests get a turn. */
const pause = 64

let initial: State | undefined

function newState(): State {
  if (initial === undefined) {
    const words = fractionOfPi(keyCount + boxCount)
    initial = { keys: words.slice(0, keyCount), boxes: words.slice(keyCount) }
  }
  return { keys: initial.keys.slice(), boxes: initial.boxes.slice() }
}

/** Encrypts the block at an index of an array. */
function encrypt({ keys: k, boxes: s }: State, block: Uint32Array, at: number): void {
  let left = (block[at] as number) ^ (k[0] as number)
  let right = block[at + 1] as number
  for (let round = 1; round <= 16; round += 1) {
    const a = s[left >>> 24] as number
    const b = s[256 + ((left >>> 16) & 255)] as number
    const c = s[512 + ((left >>> 8) & 255)] as number
    const d = s[768 + (left & 255)] as number
    const next = right ^ (((((a + b) | 0) ^ c) + d) | 0) ^ (k[round] as number)
    right = left
    left = next
  }
  block[at] = right ^ (k[17] as number)
  block[at + 1] = left
}

/** The words of a text that is repeated without an end. */
function wordsOf(bytes: Uint8Array, count: number): Uint32Array {
  const byte = (index: number): number => bytes[index % bytes.length] ?? 0
  return Uint32Array.from({ length: count }, (_, index) => {
    const at = index * 4
    return ((byte(at) << 24) | (byte(at + 1) << 16) | (byte(at + 2) << 8) | byte(at + 3)) >>> 0
  })
}

/** Mixes a key into the subkeys, and encrypts all of the state with it. @param salt four words, or zeros */
function expand(state: State, key: Uint32Array, salt: Uint32Array): void {
  const { keys, boxes } = state
  for (let index = 0; index < keyCount; index += 1) keys[index] = (keys[index] as number) ^ (key[index] as number)
  const block = new Uint32Array(2)
  let turn = 0
  for (const part of [keys, boxes]) {
    for (let index = 0; index < part.length; index += 2) {
      block[0] = (block[0] as number) ^ (salt[turn] as number)
      block[1] = (block[1] as number) ^ (salt[turn + 1] as number)
      turn = 2 - turn
      encrypt(state, block, 0)
      part[index] = block[0] as number
      part[index + 1] = block[1] as number
    }
  }
}

/**
 * Returns the 24 bytes of bcrypt. Lets other work of the thread run in between.
 *
 * @param password at most 72 bytes, without the NUL at its end
 * @param rounds the cost: 2^rounds
 */
export async function bcryptKey(password: Uint8Array, salt: Uint8Array, rounds: number): Promise<Uint8Array> {
  const key = wordsOf(Uint8Array.of(...password, 0).subarray(0, 72), keyCount)
  const saltWords = wordsOf(salt, 4)
  const saltKey = wordsOf(salt, keyCount)
  const none = new Uint32Array(4)
  const state = newState()
  expand(state, key, saltWords)
  for (let round = 0; round < 2 ** rounds; round += 1) {
    expand(state, key, none)
    expand(state, saltKey, none)
    if (round % pause === pause - 1) await new Promise((resolve) => setTimeout(resolve))
  }
  const blocks = Uint32Array.from(text)
  for (let index = 0; index < blocks.length; index += 2) {
    for (let time = 0; time < 64; time += 1) encrypt(state, blocks, index)
  }
  const bytes = new Uint8Array(24)
  const view = new DataView(bytes.buffer)
  blocks.forEach((word, index) => {
    view.setUint32(index * 4, word)
  })
  return bytes
}
