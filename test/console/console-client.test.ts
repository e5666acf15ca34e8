import { defineFields, definePlugin } from '@grantry/core'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { runRules } from '../../packages/server/src/check-rules/rule.ts'
import { exposureRules } from '../../packages/server/src/doctor/check-exposure.ts'
import type { Facts } from '../../packages/server/src/doctor/facts.ts'
import { startServer } from '../support/patient-server.ts'
import { administrationInput, loadedOf, startAdministrationServer } from './open-administration.ts'

// The client that the server provides for the administration in the browser.

const issuer = 'http://127.0.0.1:8484'

describe('the client of the console', () => {
  test('belongs to the server: no client of the configuration or the storage has its id', async () => {
    const clients = [{ clientId: 'grantry-console', public: true }]
    await expect(
      startServer({ loaded: loadedOf({ ...administrationInput(issuer), clients }), port: 0, observe: () => {} }),
    ).rejects.toThrow('clients: grantry-console is the client of the console; give this client another clientId')
    const { server, send } = await startAdministrationServer()
    try {
      await expect(send('POST', '/clients', { clientId: 'grantry-console', public: true })).rejects.toThrow('409')
      await expect(send('PATCH', '/clients/grantry-console', { redirectUris: [] }, '"x"')).rejects.toThrow('409')
    } finally {
      await server.close(0)
    }
  })

  test.each([
    ['console', { console: false }],
    ['sign-in', { plugins: [{ name: 'admin', clients: ['ops'] }] }],
    ['admin', { clients: [], plugins: [{ name: 'sign-in' }] }],
  ])('does not exist without %s', async (_, change) => {
    const { server, url } = await startAdministrationServer(change)
    try {
      expect(server.plugins).not.toContain('console')
      expect(server.plugins).not.toContain('dpop')
      const setup = await fetch(`${url}setup.json`)
      if (setup.status === 200) expect(await setup.json()).not.toHaveProperty('administration')
    } finally {
      await server.close(0)
    }
  })

  test('is refused at the start by a plugin that accepts confidential clients only', async () => {
    const plugins = [{ name: 'sign-in' }, { name: 'admin', clients: ['ops'] }, { name: 'fapi2', clients: 'all' }]
    const input = { ...administrationInput(issuer), clients: [], plugins }
    await expect(startServer({ loaded: loadedOf(input), port: 0, observe: () => {} })).rejects.toThrow(
      /: console: its client cannot sign in: .*public must be false, because only confidential clients are supported .*; set console to false, or let the plugin demand it of your own clients only, as fapi2 does with "clients": "marked"$/u,
    )
  })

  test('two plugins that define the same member are named, and not the client of the console', async () => {
    const doors = definePlugin('doors', [defineFields({ client: { clientColor: v.optional(v.string()) } })])
    const input = {
      ...administrationInput(issuer),
      clients: [],
      plugins: [{ name: 'sign-in' }, { name: 'admin' }, doors],
    }
    await expect(startServer({ loaded: loadedOf(input), port: 0, observe: () => {} })).rejects.toThrow(
      /^(?!.*its client).*: plugins: \S+ and doors both define the member of a client clientColor; remove one of them/u,
    )
  })

  test('makes a remote console one with a sign-in, which grantry check accepts', () => {
    const idsOf = (change: object) => {
      const { configuration } = loadedOf({ ...administrationInput('https://id.example.com'), ...change })
      return runRules(exposureRules, { configuration } as Facts).map(({ id }) => id)
    }
    const console = { remote: true }
    expect(idsOf({ console })).not.toContain('console-on')
    expect(idsOf({ console, plugins: [{ name: 'sign-in' }] })).toContain('console-on')
  })

  test('gets no token without a proof of its key, and none but for its own redirect URI', async () => {
    const started = await startAdministrationServer()
    try {
      expect(started.server.plugins).toEqual(expect.arrayContaining(['console', 'dpop']))
      const form = {
        grant_type: 'authorization_code',
        client_id: 'grantry-console',
        code: 'x',
        redirect_uri: started.url,
      }
      const token = await fetch(`${started.issuer}/connect/token`, { method: 'POST', body: new URLSearchParams(form) })
      expect(await token.json()).toMatchObject({ error_description: 'A DPoP proof is required' })
      const query = new URLSearchParams({ client_id: 'grantry-console', response_type: 'code', scope: 'openid' })
      query.set('redirect_uri', 'https://attacker.example/console/')
      const response = await fetch(`${started.issuer}/connect/authorize?${query}`, { redirect: 'manual' })
      expect(response.headers.get('location')).toBeNull()
      expect(response.status).toBe(400)
    } finally {
      await started.server.close(0)
    }
  })
})
