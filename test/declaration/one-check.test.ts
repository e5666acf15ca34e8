// A client that the configuration accepts is accepted by `check`, `plan`, `apply`, `clients add` and the admin API, and one that
// it refuses is refused by all, with the same sentences, and all of them: there is one check.
import { configurationProblems, createProvider } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { createLiveChecks } from '../../packages/server/src/administration/admin-host.ts'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { providerOptions } from '../../packages/server/src/provider-options/provider-options.ts'
import { sharedDirectory } from '../support/directory.ts'
import { generateFixedRsaKeys } from '../support/keys.ts'
import { machine, newService } from './setting.ts'

const directory = sharedDirectory('one-check')
const keys = { algorithms: ['ES256', 'PS256'] }
generateFixedRsaKeys()

const secrets = [{ sha256: sha256Of('a-secret-of-this-client') }]
const jwks = { keys: [{ kty: 'EC', crv: 'P-256', x: 'a', y: 'b' }] }

/** Members of a client, and the sentences that refuse it; none if it is accepted. */
const cases: [members: object, ...sentences: string[]][] = [
  [{}],
  [{ identityTokenAlgorithm: 'PS256' }],
  [{ identityTokenAlgorithm: 'ES256' }],
  [{ identityTokenAlgorithm: 'RS256' }, 'has identityTokenAlgorithm RS256, but no key uses it'],
  [{ identityTokenAlgorithm: 'HS256' }, 'identityTokenAlgorithm must be one of'],
  [{ scopes: ['api1', 'openid'], accessTokenLifetime: 60 }],
  [{ scopes: ['constructor'] }, 'has the scope constructor, which is not declared in scopes'],
  [{ grantTypes: ['__proto__'] }, 'uses the grant type __proto__, which no plugin provides'],
  [{ grantTypes: ['authorization_code'] }, 'has no redirectUris'],
  [{ enabled: false, grantTypes: ['authorization_code'] }],
  [{ public: true, secrets: [] }, 'is public but uses client_credentials'],
  [{ tokenEndpointAuthMethod: 'private_key_jwt' }, 'has tokenEndpointAuthMethod private_key_jwt'],
  [{ jwks }, 'jwks is not a known option'],
  [{ accessTokenLifetime: 0 }, 'accessTokenLifetime must be a whole number'],
  [{ redirectUris: ['javascript:alert(1)'] }, 'redirectUris[0] must'],
  [{ secrets: [{ ...secrets[0], expiresAt: '2037-01-01T00:00:00' }] }, 'secrets[0].expiresAt is not a time'],
  // One of each kind: an unknown option, a wrong type, an inconsistent pair, and what no plugin or scope has.
  [
    { foo: 1, accessTokenLifetime: '60', public: true, secrets, grantTypes: ['z'], scopes: ['x'] },
    'foo is not a known option',
    'accessTokenLifetime must be a number',
    'secrets must be empty for a public client',
    'uses the grant type z, which no plugin provides',
    'has the scope x, which is not declared',
  ],
  [
    { redirectUri: 'https://a.example', grantTypes: ['authorization_code'], scopes: ['x'] },
    'redirectUri is not a known option; did you mean redirectUris?',
    'has the scope x, which is not declared',
  ],
  [
    { redirectUris: ['javascript:alert(1)'], grantTypes: ['authorization_code'], secrets: 'x', scopes: ['x'] },
    'redirectUris[0] must',
    'secrets must be an array',
    'has the scope x, which is not declared',
  ],
  [
    { foo: 1, grantTypes: ['authorization_code'], identityTokenAlgorithm: 'RS256' },
    'foo is not a known option',
    'uses authorization_code but has no redirectUris',
    'has identityTokenAlgorithm RS256, but no key uses it',
  ],
  [
    { scopes: ['x', 'y'], grantTypes: ['z'], identityTokenAlgorithm: 'RS256' },
    'has the scope x, which is not declared',
    'has the scope y, which is not declared',
    'uses the grant type z, which no plugin provides',
    'has identityTokenAlgorithm RS256, but no key uses it',
  ],
]

/** Each way to check a client: returns what it prints, or `''` if it accepts. */
async function sentencesOf(client: object) {
  const refusal = ({ code, err }: { readonly code: number | null; readonly err: string }): string =>
    code === 0 ? '' : err
  const configured = newService(directory, { keys, clients: [client] })
  const service = newService(directory, { keys })
  const file = service.write({ clients: [client] })
  const loaded = await loadConfiguration(service.file, {})
  const start = await loadConfiguration(configured.file, {})
    .then((configuration) => providerOptions(configuration, memoryDriver(), () => {}))
    .then(createProvider)
    .then((provider) => provider.close().then(() => ''))
    // A server that starts would run.
    .catch(async () => refusal(await configured.run('serve', '--port', '0')))
  const running = await createProvider(await providerOptions(loaded, memoryDriver(), () => {}))
  const live = await Promise.resolve(
    createLiveChecks(loaded, running, { list: async () => [] }).client(client as never),
  ).then(
    () => '',
    (cause: Error) => configurationProblems(cause).join('\n'),
  )
  await running.close()
  return {
    start,
    live,
    check: start === '' ? '' : refusal(await configured.run('check').then(({ code, out }) => ({ code, err: out }))),
    plan: refusal(await service.run('plan', file)),
    apply: refusal(await service.run('apply', file, '--yes')),
    add: refusal(
      await newService(directory, { keys }).run('clients', 'add', 'one', '--file', service.write(client, 'one.json')),
    ),
  }
}

describe('a client is checked in one way', () => {
  test.each(cases)('%j', async (members: object, ...sentences: string[]) => {
    const answers = Object.entries(await sentencesOf(machine('one', { secrets, ...members })))
    if (sentences.length === 0) {
      expect(answers.filter(([, text]) => text !== '')).toEqual([])
      return
    }
    for (const [way, text] of answers) {
      expect([way, sentences.filter((sentence) => !text.includes(sentence)), text]).toEqual([way, [], text])
    }
  })

  test('all kinds of mistakes of a file are printed', async () => {
    const { run, write } = newService(directory, { keys, clients: [machine('taken', { secrets })] })
    const content = {
      scopes: [{ name: 'api1' }, { name: 'x', claims: ['exp'] }],
      clients: [
        machine('taken'),
        machine('a', { redirectUris: ['x'] }),
        machine('b', { scopes: ['y'] }),
        machine('c', { identityTokenAlgorithm: 'RS256' }),
      ],
      users: [{ sub: '1', username: 'ann', password: 'plain' }],
    }
    const { err } = await run('plan', write(content))
    for (const sentence of [
      'scopes[0]: the scope api1 is in scopes of',
      'clients[0]: the client taken is in clients of',
      'users[0]: user 1: password: must be a hash',
      'scopes[1]: x has the claim exp, which is reserved',
      'clients[1] ("a"): redirectUris[0] must be an',
      'clients[2]: b has the scope y, which is not declared',
      'clients[3]: c has identityTokenAlgorithm RS256, but no key uses it',
    ])
      expect(err).toContain(sentence)
  })
})

test('a change of the order alone is no change of a set', async () => {
  const { out, write } = newService(directory, { plugins: [{ name: 'sign-in' }, { name: 'client-assertion' }] })
  const uris = ['https://a.example.com/1', 'https://b.example.com/2']
  const lists = (order: <T>(list: T[]) => T[]) => ({
    scopes: [
      { name: 'read', audience: order(['https://a.example.com', 'https://b.example.com']), claims: order(['a', 'b']) },
    ],
    clients: [
      {
        clientId: 'web',
        secrets: order([{ sha256: sha256Of('one') }, { sha256: sha256Of('two') }]),
        grantTypes: order(['authorization_code', 'client_credentials']),
        scopes: order(['openid', 'read']),
        redirectUris: order([...uris]),
        postLogoutRedirectUris: order([...uris]),
        allowedCorsOrigins: order(['https://a.example.com', 'https://b.example.com']),
        identityProviders: order(['x', 'y']),
        contacts: order(['a@example.com', 'b@example.com']),
        tags: order(['s', 't']),
      },
    ],
    users: [{ sub: '1', username: 'ann', claims: { role: ['admin', 'staff'] } }],
  })
  await out('apply', write(lists((list) => list)), '--yes')
  expect(await out('plan', write(lists((list) => [...list].reverse())))).toContain('Nothing to do')
  // The values of claims are as they are: their order can have a meaning.
  const users = [{ sub: '1', username: 'ann', claims: { role: ['staff', 'admin'] } }]
  expect(await out('plan', write({ users }))).toContain('claims')
})
