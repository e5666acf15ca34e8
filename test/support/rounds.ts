/** Set by `LONG_TESTS=true npx vitest run <folder>`: tests that depend on chance repeat more often. */
export const isLong = process.env.LONG_TESTS === 'true'

/** Numbers the rounds of a test that depends on chance: one in the short form, `many` in the long form. */
export const rounds = (many = 20): readonly number[] =>
  Array.from({ length: isLong ? many : 1 }, (_, index) => index + 1)
