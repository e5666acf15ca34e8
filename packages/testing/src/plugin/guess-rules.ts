import { testClient } from '../test-provider.ts'
import { type Bench, otherClient } from './bench.ts'
import { publicNames } from './leak-rules.ts'
import { isSuccess, type ParameterTarget } from './parameter-rules.ts'
import { createShared, inSetting, openSetting } from './setting.ts'
import type { Outgoing } from './target.ts'
import { withLatency } from './test-drivers.ts'

/** The number of bits with which a credential needs no limit on guesses (RFC 6749 section 10.10). */
const enoughBits = 128
/** Bits that must differ between several values: a random UUID has 122 in 37 characters. */
const enoughDifferentBits = 120
/** Values of a case to compare. By chance, random ones have no character in common. */
const issues = 8
/**
 * The number of wrong values: more than a limit allows. They are sent in batches of concurrent requests, which pass a
 * limit that is not atomic.
 */
const guesses = 200
const batchSize = 40
/**
 * The number of values that are sent if all are refused as malformed: few values have the right check digit, and a
 * limit counts only those.
 */
const maxMalformed = 400
const maxSent = 10_000

const groups = [/\d/u, /[a-f]/u, /[g-z]/u, /[A-F]/u, /[G-Z]/u] as const
const alphabets = ['0123456789', 'abcdef', 'ghijklmnopqrstuvwxyz', 'ABCDEF', 'GHIJKLMNOPQRSTUVWXYZ'] as const

/** Returns the letters and digits that a value can have, from those that it has: beyond `f`, it is not hexadecimal. */
function alphabetsOf(value: string): readonly string[] {
  const [digits, hexadecimal, lower, upperHexadecimal, upper] = groups.map((group) => group.test(value))
  const [allDigits, ...letters] = alphabets
  const lowerCase = lower ? letters[0] + letters[1] : hexadecimal ? letters[0] : ''
  const upperCase = upper ? letters[2] + letters[3] : upperHexadecimal ? letters[2] : ''
  return [digits ? allDigits : '', lowerCase, upperCase]
}

/** Returns how many bits a value has at most, from its length and the characters in it. */
export function bitsOf(value: string): number {
  const characters = [...value]
  const others = new Set(characters.filter((character) => !/[\da-z]/iu.test(character)))
  return Math.floor(characters.length * Math.log2(alphabetsOf(value).join('').length + others.size))
}

/** Returns the part of the first value that the others do not share: at the beginning, the end, or, with equal lengths, a place. */
function differenceOf(values: readonly string[]): string {
  const [first = '', ...others] = values
  const isShared = (place: number): boolean => others.every((value) => value.at(place) === first.at(place))
  let begin = 0
  while (begin < first.length && isShared(begin)) begin += 1
  let end = 0
  while (end < first.length - begin && isShared(-1 - end)) end += 1
  const middle = [...first.slice(begin, first.length - end)]
  const areAligned = others.every(({ length }) => length === first.length)
  return middle.filter((_, index) => !(areAligned && isShared(begin + index))).join('')
}

/** Returns how many bits of the values of a case must be guessed. A case with one value can be judged by its length only. */
function bitsToGuess(values: readonly string[]): { readonly bits: number; readonly areEnough: boolean } {
  const [value = '', ...others] = new Set(values)
  const bits = bitsOf(value)
  if (bits < enoughBits || others.length === 0) return { bits, areEnough: bits >= enoughBits }
  const different = bitsOf(differenceOf([value, ...others]))
  return { bits: different, areEnough: different >= enoughDifferentBits }
}

/** Returns a wrong value of the same form, the same one for each index. With an odd index, only digits differ. */
function wrongValue(value: string, index: number): string {
  const [digits = '', ...letters] = alphabetsOf(value)
  let state = (index + 1) * 2_654_435_761
  const wrong = [...value].map((character) => {
    const alphabet = [digits, ...(index % 2 === 0 ? letters : [])].find((candidate) => candidate.includes(character))
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return alphabet === undefined ? character : alphabet[(state >>> 8) % alphabet.length]
  })
  return wrong.join('')
}

const seen = (answered: number, name: string, bits: number): string =>
  `after ${answered} wrong values of ${name} (${bits} bits) from one network, the right one was accepted. Check ` +
  'it within kit.limitGuesses(), or issue longer values; if it is neither secret nor personal, list it in `public` of the ' +
  'case'

/**
 * Returns how many wrong values were refused as such, sent by two clients from one network, before the right one was
 * accepted: 0 if it was not, and if the parameter is no credential.
 */
async function countGuesses(bench: Bench, target: ParameterTarget, name: string): Promise<number> {
  const setting = await openSetting(bench, target, { shared: createShared(withLatency) })
  const right = await target.prepare(setting, target.sender)
  const value = String(right.parameters[name])
  // The addresses of a host with IPv6, which can have another one for each request.
  const guess = (index: number): Outgoing => ({
    ...right,
    ...(right.as === testClient && index % 4 > 1 && { as: otherClient }),
    from: `2001:db8::${index.toString(16)}`,
    parameters: { ...right.parameters, [name]: wrongValue(value, index) },
  })
  // A repeated value can be refused because it is spent.
  const sent = new Set([value])
  let answered = 0
  for (let first = 0; first < maxSent && answered < guesses; first += batchSize) {
    const indexes = Array.from({ length: batchSize }, (_, position) => first + position)
    const fresh = indexes.map(guess).filter(({ parameters }) => {
      const isNew = !sent.has(String(parameters[name]))
      sent.add(String(parameters[name]))
      return isNew
    })
    const responses = await Promise.all(fresh.map(setting.send))
    answered += responses.filter(target.refusesCredential).length
    if (answered === 0 && first + batchSize >= maxMalformed) return 0
    // Refused by a limit, or the parameter is no credential.
    const areMalformed = responses.every(
      (response) => target.refusesCredential(response) || response.error === 'invalid_request',
    )
    if (!areMalformed || (fresh.length === 0 && first >= guesses)) break
  }
  if (answered === 0) return 0
  return isSuccess(await setting.send({ ...right, from: '2001:db8::ffff' })) ? answered : 0
}

/** Checks that a credential that is short enough to be guessed is limited. */
export async function checkGuesses(bench: Bench, target: ParameterTarget): Promise<void> {
  const samples = await inSetting(bench, target, async (setting) => {
    const prepared: Outgoing[] = []
    while (prepared.length < issues) prepared.push(await target.prepare(setting, target.sender))
    return prepared.map(({ parameters }) => parameters)
  })
  for (const name of Object.keys(samples[0] ?? {})) {
    const isOwn = target.declared?.includes(name) ?? true
    const values = samples.map((parameters) => parameters[name]).filter((value) => typeof value === 'string')
    if (!isOwn || publicNames.has(name) || target.public.includes(name) || values.length < issues) continue
    const { bits, areEnough } = bitsToGuess(values)
    if (areEnough) continue
    const answered = await countGuesses(bench, target, name)
    if (answered > 0) bench.findings.add('guesses', target.part, seen(answered, name, bits))
  }
}

/** Checks that what a method calls unguessable, so that the core does not count failures, is long enough. */
export function checkLength(bench: Bench, part: string, outgoing: Outgoing, except: ReadonlySet<string>): void {
  const { parameters, headers = {}, clientCertificate } = outgoing
  if (clientCertificate !== undefined) return
  const values = [
    ...Object.entries(parameters).flatMap(([name, value]) => (except.has(name) ? [] : [String(value)])),
    ...Object.values(headers),
  ]
  const bits = Math.max(0, ...values.map(bitsOf))
  if (bits >= enoughBits) return
  bench.findings.add('guesses', part, `it is unguessable: true, and its longest value has ${bits} bits`)
}
