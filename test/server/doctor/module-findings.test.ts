import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sharePackagesWithModules } from '../packages-of-modules.ts'
import { checked } from './checked.ts'
import { healthy, strong, withClient, written } from './configurations.ts'
import { withFapi2 } from './healthy-plugins.ts'

sharePackagesWithModules()

describe('grantry check finds, with modules', () => {
  const tagPlugin = `
import { defineClientAuthentication, defineFields, definePlugin } from '@grantry/core'
import * as v from 'valibot'
export default definePlugin('tags', [
  defineFields({ client: { tag: v.optional(v.string('must be a string')) } }),
  defineClientAuthentication({
    method: 'tag',
    consumes: ['tag'],
    present: () => undefined,
    accepts: ({ tag }) => tag !== undefined,
    verify: () => ({ reason: 'never' }),
  }),
])
`

  test('nothing wrong with a client that a plugin authenticates by a member of its own', async () => {
    const content = withClient({ tag: 'x', secrets: [] })
    const { directory, file } = written({ ...content, plugins: ['./tags.mjs'], console: true })
    writeFileSync(join(directory, 'tags.mjs'), tagPlugin)
    expect((await checked(file)).findings.map(({ id }) => id)).not.toContain('configuration-invalid')
    expect((await checked(file)).findings.filter(({ where }) => where.startsWith('clients'))).toEqual([])
    const wrong = written({ ...withClient({ tagg: 'x' }), plugins: ['./tags.mjs'] })
    writeFileSync(join(wrong.directory, 'tags.mjs'), tagPlugin)
    expect((await checked(wrong.file)).findings).toMatchObject([
      { id: 'configuration-invalid', reason: 'clients[0] ("web"): tagg is not a known option; did you mean tag?' },
    ])
  })

  test('no missing plugin if a module may contain it', async () => {
    const { directory, file } = written({ ...withClient({ jwks: {} }), plugins: ['./tags.mjs'] })
    writeFileSync(join(directory, 'tags.mjs'), tagPlugin)
    expect((await checked(file)).findings.map(({ id }) => id)).toEqual(['configuration-invalid'])
  })

  test('clients in an external store', async () => {
    const { file } = written(
      `export default { ...${JSON.stringify(healthy)}, clients: { find: () => undefined } }`,
      'grantry.config.mjs',
    )
    expect((await checked(file)).findings).toMatchObject([{ id: 'clients-unseen' }])
  })

  const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange'

  // A client of a store can get JWTs, and a client with reference tokens can exchange them for JWTs.
  test.each([
    ['clients of a store', 'clients: { find() {} }'],
    ['a token exchange', `clients: [{ ...client, accessTokenFormat: 'reference', grantTypes: ['${exchange}'] }]`],
  ])('RS256 for JWTs of clients with the FAPI profile, with %s', async (_what, clients) => {
    const profile = { ...withFapi2, keys: { algorithm: 'RS256', encryptionSecret: strong('keys') } }
    const content = `import { defineGrant } from '@grantry/core'
      const schema = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } }
      const grant = defineGrant({ grantType: '${exchange}', params: schema, handle() {} })
      const { plugins, clients: [client], ...profile } = ${JSON.stringify(profile)}
      export default { ...profile, plugins: [...plugins, grant], ${clients} }`
    const { findings } = await checked(written(content, 'grantry.config.mjs').file)
    expect(findings.map(({ id }) => id)).toContain('fapi-signing-algorithm')
  })
})
