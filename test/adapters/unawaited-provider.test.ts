// createProvider() returns a promise. A host that forgets to await it gets a clear error immediately.
import { bunHandler } from '@grantry/adapters/bun'
import { denoHandler } from '@grantry/adapters/deno'
import { fetchHandler, fetchMiddleware } from '@grantry/adapters/fetch'
import { hattipHandler } from '@grantry/adapters/hattip'
import { fastifyHook, koaMiddleware, nodeListener, nodeMiddleware, serve } from '@grantry/adapters/node'
import { createProvider, signingKeys } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

const promised = () =>
  createProvider({
    issuer: 'https://id.example.com',
    keys: signingKeys(),
    storage: mapDriver(),
    clients: [],
    plugins: [],
  }) as never

const refusal = { name: 'TypeError', message: 'The provider is a promise; write await createProvider(...)' }

describe('a provider that was not awaited', () => {
  test.each([
    ['nodeListener', nodeListener],
    ['nodeMiddleware', nodeMiddleware],
    ['koaMiddleware', koaMiddleware],
    ['fastifyHook', fastifyHook],
    ['fetchHandler', fetchHandler],
    ['fetchMiddleware', fetchMiddleware],
    ['hattipHandler', hattipHandler],
    ['bunHandler', bunHandler],
    ['denoHandler', denoHandler],
  ] as readonly [string, (provider: never) => unknown][])('is rejected by %s()', (_name, adapt) => {
    let thrown: unknown
    try {
      adapt(promised())
    } catch (error) {
      thrown = error
    }
    expect(thrown).toMatchObject(refusal)
  })

  test('is rejected by serve()', async () => {
    await expect(serve(promised())).rejects.toMatchObject(refusal)
  })
})
