/**
 * A part brings the code that checks its members. Without it, a misspelled `guessable` would leave a secret without a limit:
 * what the function of its kind has not defined is refused, and so is what a package with other members has defined.
 */
import {
  configurationProblems,
  defineEndpoint,
  definePlugin,
  defineTask,
  defineTokenBinding,
  type Plugins,
} from '@grantry/core'
import { createTestProvider } from '@grantry/testing'
import { build } from 'esbuild'
import { beforeAll, describe, expect, test } from 'vitest'
import { defined, membersOf, type Part, samples } from './part-samples.ts'

const pluginOf = (...parts: readonly object[]) => ({ kind: 'plugin', name: 'word', parts }) as unknown as Plugins
const problemsOf = (plugins: Plugins): Promise<readonly string[]> =>
  createTestProvider({ plugins }).then(() => [], configurationProblems)

const functions = {
  grant: 'defineGrant()',
  'grant-check': 'defineGrantCheck()',
  'client-authentication': 'defineClientAuthentication()',
  endpoint: 'defineEndpoint()',
  'error-page': 'defineErrorPage()',
  'response-format': 'defineResponseFormat()',
  'token-binding': 'defineTokenBinding()',
  'client-source': 'defineClientSource()',
  'scope-source': 'defineScopeSource()',
  task: 'defineTask()',
  'host-functions': 'defineHostFunctions()',
  fields: 'defineFields()',
  capability: '',
} as const satisfies Readonly<Record<keyof typeof samples, string>>

const kinds = Object.keys(samples) as (keyof typeof samples)[]
const refusalOf = (kind: keyof typeof samples) =>
  `plugins: word has a part of the kind ${kind} that is a plain object; ${kind === 'capability' ? 'import it from @grantry/core' : `create it with ${functions[kind]}`}`

describe.each(kinds)('a part of the kind %s', (kind) => {
  const [part] = samples[kind] as readonly [Part]

  test('is refused if it is a plain object, whatever its members', async () => {
    expect(await problemsOf(pluginOf(part))).toEqual([refusalOf(kind)])
    expect(await problemsOf(pluginOf({ ...part, guessible: true }))).toEqual([refusalOf(kind)])
  })

  test('is refused if the function of another kind has defined it', async () => {
    const sampleOfOtherKind = kind === 'task' ? samples.fields[0] : samples.task[0]
    expect(await problemsOf(pluginOf({ ...defined(sampleOfOtherKind), ...part }))).toEqual([refusalOf(kind)])
  })

  test('is refused if a package with another contract has defined it', async () => {
    const earlier = { ...(defined(part)['~kind'] as object), contract: 1 }
    expect(await problemsOf(pluginOf({ ...part, '~kind': earlier }))).toEqual([
      `plugins: word has a part of the kind ${kind} from an incompatible version of @grantry/core; install only one version of it`,
    ])
  })

  test('is checked if it is a copy', async () => {
    const problems = await problemsOf(pluginOf({ ...defined(part), guessible: true }))
    expect(problems.join()).toContain('guessible is not a known member')
  })
})

test('a grant alone is refused if it is a plain object', async () => {
  const [grant] = samples.grant
  expect(await problemsOf(grant as unknown as Plugins)).toEqual([
    'plugins: urn:example:word has a part of the kind grant that is a plain object; create it with defineGrant()',
  ])
})

test('a capability that a grant requires is refused if it is a plain object', async () => {
  const [capability] = samples.capability
  expect(await problemsOf(pluginOf(defined({ ...samples.grant[0], requires: [capability] })))).toEqual([
    refusalOf('capability'),
  ])
})

test('the plain objects and the misspelled members of all parts are reported together', async () => {
  const [task] = samples.task
  expect(await problemsOf(pluginOf(samples.endpoint[0], { ...defined(task), rnu: 1 }))).toEqual([
    refusalOf('endpoint'),
    'plugins: the task of word: rnu is not a known member; did you mean run?',
  ])
})

describe('parts of another copy of this package', () => {
  let copy: typeof import('@grantry/core')

  beforeAll(async () => {
    const { outputFiles } = await build({
      stdin: { contents: "export * from '@grantry/core'", resolveDir: import.meta.dirname },
      bundle: true,
      format: 'esm',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      conditions: ['@grantry/source'],
      write: false,
    })
    const [code = ''] = outputFiles.map(({ contents }) => Buffer.from(contents).toString('base64'))
    copy = await import(`data:text/javascript;base64,${code}`)
    expect(copy.defineTask).not.toBe(defineTask)
  })

  test('work beside parts of this one', async () => {
    const endpoint = (name: string) =>
      ({ name, path: `/${name}`, methods: ['GET'], caller: 'anyone', handle: () => ({ json: { name } }) }) as const
    const prove = () => undefined
    const { provider } = await createTestProvider({
      plugins: [
        copy.definePlugin('one', [
          copy.defineEndpoint(endpoint('one')),
          copy.defineTokenBinding({ member: 'one', prove }),
        ]),
        definePlugin('two', [defineEndpoint(endpoint('two')), defineTokenBinding({ member: 'two', prove })]),
      ],
    })
    for (const name of ['one', 'two']) {
      const response = await provider.fetch(new Request(`${provider.issuer}/${name}`))
      expect(await response.json()).toEqual({ name })
    }
  })

  test('are checked', async () => {
    const { kind: _, ...endpoint } = samples.endpoint[0]
    const part = copy.defineEndpoint({ ...endpoint, guessible: true } as never)
    expect(await problemsOf(copy.definePlugin('word', [part]))).toEqual([
      'plugins: the endpoint words of word: guessible is not a known member; did you mean guessable?',
    ])
  })
})

/**
 * The members of parts, by the number of their contract. Increase `contract` in `parts/part-kind.ts` with every change of
 * them, or of what `collect` returns: another version of this package could otherwise check or run the parts of this one.
 */
const membersOfContract: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  4: {
    capability: 'name open',
    'client-authentication':
      'accepts alternative consumes implicit method present readsAuthorization selective unguessable verify',
    'client-source': 'find isOriginAllowed matches renew yields',
    endpoint:
      'admit beforeIssuerPath body caller cors effects guessable handle metadataName methods name params path presentError problems readsBearer readsProofs requires scope subpaths',
    'error-page': 'presentError',
    fields: 'checkClient checkIssuer client clientMetadata errors metadata ownScopes rules scope signs',
    grant:
      'defaultScopes grantType handle params publicClients refusal refusalCode requires scope stored variant withoutUser',
    'grant-check': 'authorization check grantTypes params settles',
    'host-functions': 'create key',
    'response-format': 'encode endpoint mediaType signingAlgorithms',
    'scope-source': 'isCurrent list',
    task: 'run',
    'token-binding': 'admit bindsRefreshTokens challenge exposedHeaders member prove scheme',
  },
}

test('the members of parts are those of the number of their contract', () => {
  const numbers = kinds.map((kind) => (defined(samples[kind][0])['~kind'] as { readonly contract: number }).contract)
  const [contract = 0] = numbers
  expect(new Set(numbers).size).toBe(1)
  const members = Object.fromEntries(kinds.map((kind) => [kind, [...membersOf(kind)].sort().join(' ')]))
  expect(
    members,
    'the members of parts have changed: increase `contract` in packages/core/src/parts/part-kind.ts, and replace the number and its members here',
  ).toEqual(membersOfContract[contract])
})
