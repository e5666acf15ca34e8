// The folds of names, addresses, domains and passwords: folding twice changes nothing, and what one rule takes for the same,
// every index and limit takes for the same.
import {
  domainOf,
  foldedAddress,
  foldedDomain,
  foldedPassword,
  foldedUsername,
  isSameAddress,
  spellingsOf,
  typedName,
} from '@grantry/core'
import { describe, expect, test, vi } from 'vitest'
import { limitNameOf } from '../../packages/core/src/credentials/user-names.ts'
import { foldedName } from '../../packages/core/src/folded-text.ts'

const folds = {
  typedName,
  foldedUsername,
  foldedAddress,
  foldedDomain,
  foldedPassword,
  foldedName,
  domainOf: (text: string) => domainOf(`ann@${text}`),
}

/** What folds have stumbled over, here and in other projects. Every one alone, around, within and behind a name and a domain. */
const pieces = [
  ...'. .. ... \u3002 \uff0e \uff61 .\u3002 \u2024 @ @@ \uff20 i\u0307 i\u0307\u0307 i\u0307\u0307\u0307\u0307\u0307\u0307\u0307\u0307 \u0130 \u0130\u0307'.split(
    ' ',
  ),
  ...'I\u0307\u0307\u0307 i\u0307\u0323 i\u0323\u0307\u0307 \u0131 \u0131\u0307 \u00df \u1e9e ss \u03c3 \u03c2'.split(
    ' ',
  ),
  ...'\u03a3 \u03c2\u0301 \u0345 \u03b1\u0345 \u1fb3 \u1fbc \u0345\u0301 \u0391\u0345\u0301 \ufdfa \ufb03 \u01c5'.split(
    ' ',
  ),
  ...'\u01f0 \u0149 \u1e96 \u0390 \u1fb7 \u1f80 \u0587 \u212a \u212b \u2126 \u00b5 \u017f \uff21 \uff76\uff9e'.split(
    ' ',
  ),
  ...'\u1100\u1161\u11a8 \uac01 \u0958 \u0340 \u0344 \u1e9b\u0323 \u00ad \u200b \u200d \ufeff \u2060 \u180e \u034f'.split(
    ' ',
  ),
  ...'\u115f \u3164 \uffa0 \u2800 \ufe0f \u{e0041} \u00a0 \u3000 \t \r\n \u0085 \u2028 \u0000 \u0007 \ud800 \udc00'.split(
    ' ',
  ),
  ...'\u{1f600} \u{10400} \u{1e900} \u13a0 \uab70 \u1c80 \u10a0 \u10d0 \u1c90 \ua64a \u1c88 xn-- xn--bcher-kva'.split(
    ' ',
  ),
  ...'XN--BCHER-KVA xn--fa-hia xn--a xn--xn--- xn--0 xn--- xn--i-7cb xn--nxasmq6b xn--zca %2e %00 1.1 0x7f 0x'.split(
    ' ',
  ),
  ...'127.0.0.1 256 [::1] _dmarc - -- a- -a / \\ ? # :80 < e\u0301 \u00e9 a\u0315\u0300\u05ae\u0062 \u0f73'.split(' '),
  ...'\u0f71\u0f72 \u2f868 \u2adc \ufb1d \u0623 \u09cb \u1e0b\u0323'.split(' '),
  ' ',
  '"',
  "'",
]
const around: readonly ((piece: string) => string)[] = [
  (piece) => piece,
  (piece) => `ann${piece}`,
  (piece) => `${piece}ann`,
  (piece) => `an${piece}n@acme.example`,
  (piece) => `ann@acme.example${piece}`,
  (piece) => `ann@${piece}acme.example`,
  (piece) => `ann@ac${piece}me.example${piece}`,
  (piece) => piece.repeat(600),
  (piece) => `${'a'.repeat(1023)}${piece}`,
  (piece) => `ann@${'a.'.repeat(509)}${piece}`,
]

/** The same numbers in every run (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function madeUp(count: number): readonly string[] {
  const next = numbers(40)
  const below = (end: number): number => Math.floor(next() * end)
  const letters = [...pieces, 'a', 'B', 'i', 'ann', 'acme', '.example', '@', '.']
  const anyPoint = (): string => String.fromCodePoint(below(8) === 0 ? below(0x110000) : below(0x3000))
  const part = (): string => (below(5) === 0 ? anyPoint() : (letters[below(letters.length)] ?? ''))
  return Array.from({ length: count }, () => Array.from({ length: 1 + below(8) }, part).join(''))
}

const table = pieces.flatMap((piece) => around.map((put) => put(piece)))
const inputs = [...table, ...madeUp(5000)]

/** The first inputs for which something does not hold, so that a failure is short. */
const exceptions = (holds: (input: string) => boolean): readonly string[] =>
  inputs
    .filter((input) => !holds(input))
    .slice(0, 10)
    .map((input) => JSON.stringify(input.slice(0, 60)))

test('there are more than 200 inputs in the table', () => {
  expect(new Set(table).size).toBeGreaterThan(200)
})

describe.each(Object.entries(folds))('%s()', (_, fold) => {
  test('changes nothing the second time', () => {
    expect(
      exceptions((input) => {
        const once = fold(input)
        return once === undefined || fold(once) === once
      }),
    ).toEqual([])
  })
})

/** Groups the inputs, also with other spellings of each, by what a rule takes for the same. */
function groupsBy(rule: (input: string) => string): readonly (readonly string[])[] {
  const groups = new Map<string, Set<string>>()
  for (const input of inputs) {
    for (const spelling of [input, input.toUpperCase(), input.normalize('NFD'), ` ${input}\u200b`]) {
      // Longer names are refused.
      if (spelling.length > 256) continue
      const key = rule(spelling)
      groups.set(key, (groups.get(key) ?? new Set()).add(spelling))
    }
  }
  return [...groups.values()].map((group) => [...group]).filter(({ length }) => length > 1)
}

describe('what is the same', () => {
  test.each<[string, (input: string) => string, string, (input: string) => string | undefined]>([
    ['a name', foldedUsername, 'limit', limitNameOf],
    ['a name', foldedUsername, 'domain', domainOf],
    ['an address', foldedAddress, 'name', foldedUsername],
    ['an address', foldedAddress, 'limit', limitNameOf],
    ['an address', foldedAddress, 'domain', domainOf],
    ['a typed name', typedName, 'name', foldedUsername],
    ['a typed name', typedName, 'address', foldedAddress],
    [
      'a domain',
      foldedDomain,
      'domain of an address',
      (domain) =>
        /[@\s]/u.test(domain.normalize('NFKC')) ? foldedDomain(domain) || undefined : domainOf(`ann@${domain}`),
    ],
  ])('as %s (%o) has the same %s', (_, rule, _index, index) => {
    const different = groupsBy(rule).filter((group) => new Set(group.map(index)).size > 1)
    expect(
      different.slice(0, 5).map((group) => group.map((spelling) => JSON.stringify(spelling.slice(0, 60)))),
    ).toEqual([])
  })

  test('as an address is so for the comparison', () => {
    for (const group of groupsBy(foldedAddress))
      expect(group.every((spelling) => isSameAddress(spelling, group[0] ?? ''))).toBe(true)
  })

  test('as a name are all spellings under which a database has it', () => {
    expect(
      exceptions(
        (input) =>
          input.length > 256 ||
          spellingsOf(input).every((spelling) => foldedUsername(spelling) === foldedUsername(input)),
      ),
    ).toEqual([])
  })
})

test('the usual names need no normalization', () => {
  const normalize = vi.spyOn(String.prototype, 'normalize')
  for (const name of ['alice', 'Ann.Lee', 'ann@acme.example', 'Ann+1@ACME.example.']) {
    for (const fold of [typedName, foldedUsername, foldedAddress, limitNameOf, domainOf]) fold(name)
  }
  const { length } = normalize.mock.calls
  normalize.mockRestore()
  expect(length).toBe(0)
})
