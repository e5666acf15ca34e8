import { definePlugin, type GrantKit, type PluginPart, type ProviderOptions, sealing } from '@grantry/core'
import { createTestProvider, testClient } from '@grantry/testing'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import * as v from 'valibot'
import { kitPlugin, offerKit } from '../support/kit-of.ts'
import { testGrant } from '../support/test-grant.ts'

const grantType = 'urn:example:kit'
const createKey = async (): Promise<JWK> =>
  exportJWK((await generateKeyPair('ES256', { extractable: true })).privateKey)
/** The key of the provider, and another one. */
export const [jwk, another] = await Promise.all([createKey(), createKey()])

/** A provider with a plugin. `withKit()` runs a function with the kit of that plugin. */
export async function setUp(plugin = 'kit', more: Partial<ProviderOptions> = {}, parts: readonly PluginPart[] = []) {
  let run: (kit: GrantKit) => unknown = () => undefined
  const grant = testGrant({
    grantType,
    async handle({ scopes }, kit) {
      await run(kit)
      return { scopes }
    },
  })
  const f = await createTestProvider({
    keys: [jwk],
    plugins: [
      definePlugin(plugin, [sealing, grant, offerKit(plugin), ...parts]),
      plugin !== 'other' && kitPlugin('other'),
    ],
    ...more,
  })
  return {
    ...f,
    async withKit<T>(use: (kit: GrantKit) => Promise<T>): Promise<T> {
      let result: { readonly value: T } | undefined
      run = async (kit) => {
        result = { value: await use(kit) }
      }
      const { status, failure } = await f.post('token', { grant_type: grantType, scope: 'api1' }, testClient)
      if (status !== 200 || result === undefined) throw failure
      return result.value
    },
  }
}

/** A value that tests store or seal. */
export const state = v.object({ step: v.string() })
