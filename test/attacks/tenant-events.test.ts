/**
 * Attack: a client, or anyone with a public one, names a tenant in `acr_values` at the issuer of the server itself, so that its
 * failed logins are in the log in the name of that tenant, and raise an alarm there.
 *
 * The seed, section 2.1; decision 168.
 */
import { parseConfiguration } from '@grantry/core'
import { basic, sha256Of } from '@grantry/testing'
import { afterEach, expect, test } from 'vitest'
import type { ServerEvent } from '../../packages/server/src/observability/server-event.ts'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { startServer } from '../support/patient-server.ts'

const client = {
  clientId: 'web',
  secrets: [{ sha256: sha256Of('secret') }],
  grantTypes: ['password'],
  scopes: ['api1'],
}

let server: GrantryServer | undefined
afterEach(async () => {
  await server?.close(0)
})

test.each(['', '/t/acme'])('a login that names a tenant leaves no event of that tenant: at %j', async (at) => {
  const parts = { clients: [client], scopes: [{ name: 'api1' }] }
  const content = {
    issuer: 'https://id.example.com',
    storage: { driver: 'memory' },
    ...parts,
    tenants: { list: [{ name: 'acme', ...parts }, { name: 'victim' }] },
  }
  const events: ServerEvent[] = []
  server = await startServer({
    loaded: {
      configuration: parseConfiguration(configurationSchema, content, ''),
      file: 'grantry.config.json',
      directory: '.',
    },
    port: 0,
    observe: (event) => void events.push(event),
  })
  const response = await fetch(`http://127.0.0.1:${server.running.port}${at}/connect/token`, {
    method: 'POST',
    headers: { authorization: basic(['web', 'secret']) },
    body: new URLSearchParams({
      grant_type: 'password',
      username: 'alice',
      password: 'guess',
      scope: 'api1',
      acr_values: 'tenant:victim',
    }),
  })
  expect(response.status).toBe(400)
  expect(events.filter((event) => 'tenant' in event && event.tenant === 'victim')).toEqual([])
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'user_authentication_failed', requestedTenant: 'victim' }),
  )
})
