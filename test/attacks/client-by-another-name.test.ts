/**
 * Attack: the host looks clients up in a database that ignores case, or white space at the end. Each spelling of an id
 * finds the same client, so each spelling gives an attacker another allowance of wrong secrets.
 *
 * RFC 6749 section 2.2: the client identifier is opaque. A client is only found by its exact id.
 */
import type { ClientOptions } from '@grantry/core'
import { defineClientSource, definePlugin } from '@grantry/core'
import { createTestProvider, sha256Of } from '@grantry/core/testing'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { expect, test } from 'vitest'

const row: ClientOptions = {
  clientId: 'web',
  secrets: [{ sha256: sha256Of('web-secret') }],
  grantTypes: ['client_credentials'],
  scopes: ['api1'],
}
const find = async (id: string) => (id.trim().toLowerCase() === 'web' ? row : undefined)
const form = { grant_type: 'client_credentials', scope: 'api1' }

test.each([
  ['a client store', { clients: { find }, plugins: [clientCredentials()] }],
  [
    'a plugin',
    { clients: [], plugins: [clientCredentials(), definePlugin('directory', [defineClientSource({ find })])] },
  ],
])('a client of %s has one spelling', async (_, options) => {
  const f = await createTestProvider(options)
  expect((await f.post('token', form, ['web', 'web-secret'])).status).toBe(200)
  for (const id of ['WEB', 'Web', 'web ']) {
    const { status, failure } = await f.post('token', form, [id, 'web-secret'])
    expect([status, failure]).toEqual([401, 'client_unknown'])
  }
})
