import { testClient } from '../test-provider.ts'
import { type Bench, otherClient } from './bench.ts'
import { publicNames } from './leak-rules.ts'
import { isSuccess, type ParameterTarget } from './parameter-rules.ts'
import { createShared, inSetting, openSetting } from './setting.ts'
import type { Outgoing } from './target.ts'
import { withLatency } from './test-drivers.ts'

/** A credential that has as many can be guessed without limit (RFC 6749 section 10.10). */
const enoughBits = 128
/** More wrong values than a limit answers, in batches of concurrent requests, which pass a limit that reads and writes. */
const batches = 5
const batchSize = 40

const groups = [/\d/u, /[a-f]/u, /[g-z]/u, /[A-F]/u, /[G-Z]/u] as const
const alphabets = ['0123456789', 'abcdef', 'ghijklmnopqrstuvwxyz', 'ABCDEF', 'GHIJKLMNOPQRSTUVWXYZ'] as const

/** Returns the letters and digits that a value can have, from those that it has: beyond `f`, it is not hexadecimal. */
function alphabetsOf(value: string): readonly string[] {
  const [digits, hexadecimal, lower, upperHexadecimal, upper] = groups.map((one) => one.test(value))
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

/** Returns a wrong value of the same form, the same one for each index. With an odd index, only digits differ. */
function wrongValue(value: string, index: number): string {
  const [digits = '', ...letters] = alphabetsOf(value)
  let state = (index + 1) * 2_654_435_761
  const wrong = [...value].map((character) => {
    const alphabet = [digits, ...(index % 2 === 0 ? letters : [])].find((one) => one.includes(character))
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
  for (let batch = 0; batch < batches; batch += 1) {
    const indexes = Array.from({ length: batchSize }, (_, position) => batch * batchSize + position)
    const fresh = indexes.map(guess).filter(({ parameters }) => {
      const isNew = !sent.has(String(parameters[name]))
      sent.add(String(parameters[name]))
      return isNew
    })
    answered += (await Promise.all(fresh.map(setting.send))).filter(target.refusesCredential).length
    if (answered === 0) return 0
  }
  return isSuccess(await setting.send({ ...right, from: '2001:db8::ffff' })) ? answered : 0
}

/** Checks that a credential that is short enough to be guessed is limited. */
export async function checkGuesses(bench: Bench, target: ParameterTarget): Promise<void> {
  const sample = await inSetting(bench, target, (setting) => target.prepare(setting, target.sender))
  for (const [name, value] of Object.entries(sample.parameters)) {
    const isOwn = target.declared?.includes(name) ?? true
    if (!isOwn || publicNames.has(name) || target.public.includes(name) || typeof value !== 'string') continue
    const bits = bitsOf(value)
    if (bits >= enoughBits) continue
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
