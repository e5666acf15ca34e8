import { defineEndpoint, definePlugin } from '@grantry/core'
import { basic } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { allowedOrigin, permissions, preflight, spaOrigin, webOrigin } from '../endpoints/cors-requests.ts'
import { builtInPlugins, fixture, web } from '../support/fixture.ts'

const url = 'https://id.example.com/connect/probe'
const facts = { name: 'probe', path: '/connect/probe', methods: ['POST'], caller: 'client' } as const

describe('CORS of an endpoint of a plugin', () => {
  const ask = async (cors: 'none' | 'clients' | 'public' | undefined, origin: string) => {
    const probe = defineEndpoint({ ...facts, cors, handle: () => ({ json: null }) })
    const { provider } = await fixture({ plugins: [builtInPlugins, definePlugin('probe', [probe])] })
    const init = { method: 'POST', headers: { origin, authorization: basic(web) } }
    const body = new URLSearchParams()
    return {
      response: await provider.fetch(new Request(url, { ...init, body })),
      preflight: (await provider.handlers.probe?.(preflight(origin))) as Response,
    }
  }

  test('is off by default', async () => {
    const asked = await ask(undefined, webOrigin)
    expect(permissions(asked.response)).toEqual([])
    expect(asked.preflight.status).toBe(405)
  })

  test('allows the origins of clients', async () => {
    const asked = await ask('clients', webOrigin)
    expect(allowedOrigin(asked.response)).toBe(webOrigin)
    expect(allowedOrigin(asked.preflight)).toBe(webOrigin)
    // The request is authenticated, so the origin of another client does not count.
    expect(allowedOrigin((await ask('clients', spaOrigin)).response)).toBeNull()
  })

  test('allows every origin', async () => {
    expect(allowedOrigin((await ask('public', 'https://any.example.net')).response)).toBe('*')
  })
})
