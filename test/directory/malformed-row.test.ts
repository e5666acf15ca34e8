import type { ClientOptions } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { createTestProvider } from '@grantry/testing'
import { expect, test } from 'vitest'

/** The message in the event of a request whose client row is malformed. */
async function messageFor(row: object): Promise<string | undefined> {
  const clients = { find: () => row as ClientOptions }
  const { post, events } = await createTestProvider({ plugins: [clientCredentials()], clients })
  await post('token', { grant_type: 'client_credentials' }, ['web', 'web-secret'])
  const event = events.find(({ type }) => type === 'unhandled_failure')
  return event?.type === 'unhandled_failure' ? event.cause.message : undefined
}

test('names the client of a malformed row of a client store', async () => {
  expect(await messageFor({ clientId: 'web', grantTypes: 'client_credentials' })).toBe(
    'clients.find() of the client web: grantTypes must be an array of strings',
  )
})

test.each([[undefined], [17], ['a\nforged line'], ['x'.repeat(101)]])(
  'does not repeat the malformed clientId %j',
  async (clientId) => {
    const message = await messageFor({ clientId })
    expect(message).toMatch(/^clients\.find\(\) of a client without a valid clientId: clientId /u)
  },
)
