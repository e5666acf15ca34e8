/** Around the blocks of SHA-256 and SHA-512 (64 and 128 bytes), and more than one. */
export const lengths = [0, 1, 43, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 1000, 70_000] as const

/** Part of a larger buffer: a native hash must not take the whole of it. */
export const bytesOfLength = (length: number): Uint8Array =>
  Uint8Array.from({ length: length + 7 }, (_, index) => (index * 31) % 256).subarray(7)
