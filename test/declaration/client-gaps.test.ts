// A client that can do nothing is added with a warning that says what it lacks: by the API, the commands, a plan and the check
// of a configuration alike.
import { clientGaps } from '@grantry/administration'
import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { runRules } from '../../packages/server/src/check-rules/rule.ts'
import { clientRules } from '../../packages/server/src/doctor/check-clients.ts'
import { setting } from '../admin-api/setting.ts'
import { sharedDirectory } from '../support/directory.ts'
import { machine, newService } from './setting.ts'

const directory = sharedDirectory('client-gaps')
const none = 'has no grant type, so it cannot get a token'
const onlyRefresh = 'has only refresh_token, so it never gets the first token'
const noScope = 'has no scope, so it cannot get a token'

const cases: readonly (readonly [members: object, gap: string])[] = [
  [{ grantTypes: [], scopes: ['api1'] }, none],
  [{ grantTypes: undefined, scopes: undefined }, none],
  [{ grantTypes: ['refresh_token'] }, onlyRefresh],
  [{ grantTypes: ['client_credentials'], scopes: [] }, noScope],
  [{ grantTypes: ['client_credentials', 'refresh_token'], scopes: undefined }, noScope],
  [{}, ''],
  [{ enabled: false, grantTypes: [], scopes: [] }, ''],
  [{ grantTypes: ['urn:example:custom'], scopes: [] }, ''],
]

describe('a client that can do nothing', () => {
  test.each(cases)('%j lacks: %s', (members, gap) => {
    const client = machine('one', members)
    expect(clientGaps(client).map((sentence) => sentence.includes(gap))).toEqual(gap === '' ? [] : [true])
    const facts = {
      configuration: { issuer: 'https://auth.example.com' },
      tenantClients: [],
      clients: [
        {
          redirectUris: [],
          postLogoutRedirectUris: [],
          allowedCorsOrigins: [],
          refreshToken: {},
          enabled: true,
          ...client,
          grantTypes: [],
          scopes: [],
        },
      ],
      warnings: [],
    }
    expect(runRules(clientRules, facts as never).map(({ id }) => id)).toEqual(
      'enabled' in members ? [] : ['client-cannot-succeed'],
    )
  })

  test('the API warns when it adds and changes one', async () => {
    const f = await setting()
    const added = await f.send('POST', '/clients', { body: JSON.stringify({ clientId: 'one' }) })
    expect([added.status, added.body.warnings]).toEqual([201, [expect.stringContaining(none)]])
    const version = added.headers.get('etag') ?? ''
    const headers = { 'if-match': version, 'content-type': 'application/merge-patch+json' }
    const changed = await f.send('PATCH', '/clients/one', { headers, body: '{"grantTypes":["client_credentials"]}' })
    expect([changed.status, changed.body.warnings]).toEqual([200, [expect.stringContaining(noScope)]])
    const shown = await f.send('GET', '/clients/one')
    expect(shown.body.warnings).toBeUndefined()
  })

  test('commands and plans print the same', async () => {
    const { run, write } = newService(directory)
    const file = write({ clients: [machine('one', { grantTypes: [], secrets: [{ sha256: sha256Of('x') }] })] })
    const warning = (where: string) => `grantry: warning: ${where}one ${none}; add one to grantTypes\n`
    for (const line of [
      ['plan', file],
      ['apply', file, '--yes'],
    ])
      expect((await run(...line)).err).toContain(none)
    expect(await run('clients', 'edit', 'one', '--set', 'accessTokenLifetime=60')).toMatchObject({
      code: 0,
      err: warning(''),
    })
    expect(await run('clients', 'add', 'two')).toMatchObject({ code: 0, err: warning('').replace('one', 'two') })
  })
})
