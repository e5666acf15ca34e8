import fc from 'fast-check'

const surrogates = 0x800

/** Any Unicode character, every second one from ASCII. Not the unit `binary` of fast-check, which takes a second to set up. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .oneof(fc.integer({ min: 0, max: 0x7f }), fc.integer({ min: 0, max: 0x10ffff - surrogates }))
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + surrogates))
