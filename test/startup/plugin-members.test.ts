/**
 * A misspelled member of a part would be ignored without a type checker: `guessible: true` would leave secrets without a
 * limit. Every member of every kind of part is therefore spelled wrongly here, and given values of other types. The
 * members are those of the schemas, which the compiler compares with the contract (test/types/part-schemas.test-d.ts).
 */
import { configurationProblems, createProvider, type Plugins, signingKeys } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { collectParts } from '../../packages/core/src/parts/collect-parts.ts'
import { defined, membersOf, type Part, partWith, samples } from './part-samples.ts'

const start = (plugins: unknown) =>
  createProvider({
    issuer: 'https://id.example.com',
    keys: signingKeys(),
    storage: mapDriver(),
    clients: [],
    plugins: plugins as Plugins,
  })

const pluginOf = (...parts: readonly Part[]) => ({ kind: 'plugin', name: 'word', parts: parts.map(defined) })

/** Returns what `createProvider` and the other readers of `plugins` throw for a part. */
function problemOf(part: Part): string | undefined {
  try {
    collectParts(pluginOf(part) as unknown as Plugins)
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError)
    return (error as Error).message
  }
}

/** Spells a name with one letter less, with one twice, with two exchanged, and in other cases. */
function misspellings(name: string): readonly string[] {
  const letters = [...name]
  const spelled = letters.flatMap((letter, at) => [
    name.slice(0, at) + name.slice(at + 1),
    name.slice(0, at) + letter + name.slice(at),
    name.slice(0, at) + (letters[at + 1] ?? '') + letter + name.slice(at + 2),
  ])
  const snakeCase = name.replace(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`)
  const upperFirst = name.charAt(0).toUpperCase() + name.slice(1)
  const all = new Set([...spelled, name.toLowerCase(), name.toUpperCase(), snakeCase, upperFirst])
  all.delete(name)
  return [...all].filter(({ length }) => length > 1)
}

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
const wrongValues: readonly unknown[] = [
  null,
  7,
  Number.NaN,
  '',
  'no such text!',
  true,
  [7],
  [[]],
  { no: 1 },
  () => 7,
  Symbol('x'),
]

/** The paths of the members of a sample, also those of the objects in it whose members the contract names. */
const named = new Set(['stored', 'authorization', 'errors.word_refused'])
const pathsIn = (value: object, prefix = ''): readonly string[] =>
  Object.entries(value).flatMap(([name, member]) => {
    const path = `${prefix}${name}`
    if (path === 'errors') return [path, ...pathsIn((member as Part).word_refused as Part, 'errors.word_refused.')]
    return named.has(path) ? [path, ...pathsIn(member as Part, `${path}.`)] : [path]
  })

describe.each(Object.entries(samples))('a part of the kind %s', (kind, parts) => {
  test('is accepted with all members of its schema', async () => {
    const known = membersOf(kind)
    expect(
      new Set(parts.flatMap((part) => Object.keys(part))),
      'give the samples in test/startup/part-samples.ts each member of the schema',
    ).toEqual(new Set(['kind', ...known]))
    for (const part of parts) expect(problemOf(part)).toBeUndefined()
  })

  for (const part of parts) {
    for (const path of pathsIn(part).filter((name) => name !== 'kind')) {
      const member = path.split('.').at(-1) ?? ''
      test(`is refused with a misspelled ${path}, in place of the member and beside it`, () => {
        for (const wrong of misspellings(member)) {
          for (const keep of [true, false]) {
            const problem = problemOf(
              partWith(part, path, (owner) => {
                const { [member]: value, ...others } = owner
                return { ...others, ...(keep && { [member]: value }), [wrong]: value }
              }),
            )
            expect(problem).toMatch(/^plugins: the .* of word: /u)
            expect(problem).toContain(
              `${path.replace(/[^.]*$/u, wrong)} is not a known member; did you mean ${member}?`,
            )
          }
        }
      })

      test(`is refused with a ${path} of another type`, () => {
        const seen = new Set(parts.map((sample) => typeOf(partWith(sample, path, (owner) => owner, true)[member])))
        for (const wrong of wrongValues.filter((value) => !seen.has(typeOf(value)) || Number.isNaN(value))) {
          const problem = problemOf(partWith(part, path, (owner) => ({ ...owner, [member]: wrong })))
          expect(problem, String(wrong)).toMatch(/^plugins: the .* of word: /u)
          expect(problem).toContain(` ${path}`)
          expect(problem).toMatch(/ must be | is not /u)
        }
      })
    }
  }
})

test.each([
  [
    'endpoint',
    { guessible: true },
    'the endpoint words of word: guessible is not a known member; did you mean guessable?',
  ],
  [
    'token-binding',
    { bindRefreshTokens: () => true },
    'the token binding word of word: bindRefreshTokens is not a known member; did you mean bindsRefreshTokens?',
  ],
  [
    'grant',
    { publicclients: true },
    'the grant urn:example:word of word: publicclients is not a known member; did you mean publicClients?',
  ],
  ['task', { interval: 1 }, 'the task of word: interval is not a known member here; known members: run'],
] as const)('createProvider refuses a misspelled member of a part of the kind %s: %j', async (kind, more, message) => {
  const [part] = samples[kind]
  const refused = start([pluginOf({ ...part, ...more })])
  await expect(refused).rejects.toMatchObject({ name: 'TypeError', message: `plugins: ${message}` })
})

test('the mistakes of all parts are reported together', async () => {
  const [endpoint] = samples.endpoint
  const [task] = samples.task
  const parts = [
    { ...endpoint, guessible: true, efects: true },
    { ...task, rnu: 1 },
  ]
  const problems: readonly string[] = await start([pluginOf(...parts)]).then(() => [], configurationProblems)
  expect(problems).toEqual([
    'plugins: the endpoint words of word: guessible is not a known member; did you mean guessable?',
    'plugins: the endpoint words of word: efects is not a known member; did you mean effects?',
    'plugins: the task of word: rnu is not a known member; did you mean run?',
  ])
})

test('a grant alone is named by its grant type', () => {
  const [grant] = samples.grant
  expect(() => collectParts(defined({ ...grant, publicclients: true }) as unknown as Plugins)).toThrow(
    'plugins: the grant urn:example:word: publicclients is not a known member; did you mean publicClients?',
  )
})

describe('a plugin', () => {
  const task = defined(samples.task[0])
  test.each([
    ['kind', { knd: 'plugin', name: 'word', parts: [task] }],
    ['name', { kind: 'plugin', nmae: 'word', parts: [task] }],
    ['parts', { kind: 'plugin', name: 'word', part: [task] }],
  ])('is refused with a misspelled %s', async (meant, plugin) => {
    await expect(start([plugin])).rejects.toThrow(`did you mean ${meant}?`)
  })

  test('is refused with a misspelled kind of a part', async () => {
    await expect(start([pluginOf({ ...task, kind: 'tsk' })])).rejects.toThrow('did you mean the kind task?')
  })

  test('can have other members', async () => {
    await expect(start([{ ...pluginOf(task), version: 2, page: 'x' }])).resolves.toBeDefined()
  })
})
