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
