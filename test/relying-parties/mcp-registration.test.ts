import { registrations } from '@grantry/plugins/registration'
import { describe, expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { missing, withServer } from './mcp-setting.ts'

// The official MCP SDKs, which know only the URL of an MCP server, register themselves: no document, no administrator.

const generations = ['SDK 1', 'SDK 2']

const defineTests = (): void => {
  test.each(generations)('a client of %s registers itself and signs its user in', (generation) =>
    withServer(
      'Fetch',
      () => ({}),
      async ({ resource, provider, useServer }) => {
        const { asked, result, memory } = await useServer(generation, { registers: true })
        const { client_id: clientId } = memory.memory.information
        expect(clientId).toMatch(/^registered-/u)
        expect(result).toEqual({ clientId, sub: 'alice', scopes: ['mcp:tools'], resource })
        expect(new URL(asked[0] ?? '').searchParams.get('client_id')).toBe(clientId)
        expect(await provider.use(registrations).find(clientId)).toMatchObject({ used: true })
      },
    ),
  )

  test.each(generations)('a client of %s registers again after its registration has ended', (generation) =>
    withServer(
      'Fetch',
      () => ({}),
      async ({ provider, useServer }) => {
        const { memory } = await useServer(generation, { registers: true })
        const { client_id: first } = memory.memory.information
        await provider.use(registrations).remove(first)
        // A client with a refresh token learns of the end at the token endpoint.
        memory.memory.tokens = { access_token: 'outdated', refresh_token: 'outdated' }
        const { asked, result } = await useServer(generation, { memory })
        const { client_id: second } = memory.memory.information
        expect(second).not.toBe(first)
        expect(result).toMatchObject({ clientId: second, sub: 'alice' })
        expect(new URL(asked[0] ?? '').searchParams.get('client_id')).toBe(second)
      },
    ),
  )
}

describeWith(missing, 'an MCP server with clients that register themselves', defineTests, describe)
