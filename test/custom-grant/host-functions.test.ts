import { defineHostFunctions, definePlugin, defineTask, type HostKey, hostKey, type Plugins } from '@grantry/core'
import { deviceAuthorization, deviceVerification } from '@grantry/plugins/device-authorization'
import { createTestProvider, mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { state } from './plugin-kit.ts'

interface Shelf {
  readonly plugin: string
  put(step: string): Promise<void>
  get(): Promise<{ step: string } | undefined>
}

const shelf = hostKey<Shelf>('shelf', 'library()')

/** A plugin with functions for the host. */
const library = (plugin = 'library', onCreate = () => {}) =>
  definePlugin(plugin, [
    defineHostFunctions(shelf, ({ records, now }) => {
      onCreate()
      return {
        plugin,
        put: (step) => records.put('shelf', { step }, now() + 60),
        get: () => records.get('shelf', state),
      }
    }),
  ])

const providerWith = async (plugins: Plugins, storage = mapDriver()) =>
  (await createTestProvider({ plugins, storage })).provider

describe('the functions of a plugin for the host', () => {
  test('use the records of the plugin, under any name, in all processes', async () => {
    const storage = mapDriver()
    const [provider, otherProcess] = [
      await providerWith(library('a'), storage),
      await providerWith(library('a'), storage),
    ]
    await provider.use(shelf).put('read')
    expect(await otherProcess.use(shelf).get()).toEqual({ step: 'read' })
    const renamed = await providerWith(library('b'), storage)
    expect(await renamed.use(shelf).get()).toBeUndefined()
  })

  test('are created once, when the host asks for them', async () => {
    let created = 0
    const provider = await providerWith(
      library('library', () => {
        created += 1
      }),
    )
    expect([created, provider.has(shelf)]).toEqual([0, true])
    expect(provider.use(shelf)).toBe(provider.use(shelf))
    expect(created).toBe(1)
  })

  test('are created again after a failure', async () => {
    let failures = 1
    const provider = await providerWith(
      library('library', () => {
        failures -= 1
        if (failures === 0) throw new TypeError('not yet')
      }),
    )
    expect(() => provider.use(shelf)).toThrow('not yet')
    expect(provider.use(shelf).plugin).toBe('library')
  })

  test('belong to one provider, also if several have the same plugin', async () => {
    const plugin = library()
    const [provider, otherProvider] = [await providerWith(plugin), await providerWith(plugin)]
    expect(provider.use(shelf)).not.toBe(otherProvider.use(shelf))
    await provider.use(shelf).put('read')
    expect(await otherProvider.use(shelf).get()).toBeUndefined()
  })

  test('are found by a key of another copy of the module', async () => {
    const copy = hostKey<Shelf>('shelf', 'library()')
    const provider = await providerWith(library())
    expect(provider.use(copy)).toBe(provider.use(shelf))
  })
})

describe('provider.use()', () => {
  test('names the plugin that a host must install', async () => {
    const provider = await providerWith(definePlugin('other', [defineTask(() => {})]))
    expect(provider.has(shelf)).toBe(false)
    expect(() => provider.use(shelf)).toThrow(
      new TypeError('provider.use(): no plugin offers shelf; add library() to the option plugins'),
    )
    expect(() => provider.use(deviceVerification)).toThrow(
      'add deviceAuthorization() or, to the sign-in, deviceSignIn()',
    )
  })

  test.each([undefined, null, 'shelf', {}, { name: 'shelf' }, library(), deviceAuthorization])(
    'accepts only a key, not %j',
    async (wrong) => {
      const provider = await providerWith(library())
      for (const call of [() => provider.use(wrong as HostKey), () => provider.has(wrong as HostKey)]) {
        expect(call).toThrow(/^provider\.(?:use|has)\(\) requires a key that the module of a plugin exports/u)
      }
    },
  )
})

test('two plugins cannot offer functions under the same key', async () => {
  await expect(providerWith([library('a'), library('b')])).rejects.toThrow(
    'plugins: a and b both provide the host functions shelf; remove one of them',
  )
})

test.each(['', 'Shelf', 'a b', '1', 'x'.repeat(51)])('hostKey() refuses the name %j', (name) => {
  expect(() => hostKey(name, 'library()')).toThrow(/^hostKey\(\): ".*" is not a valid name/u)
})

test.each([undefined, 5, '__proto__', 'Shelf'])(
  'a plugin cannot offer functions under a key with the name %j',
  async (name) => {
    const key = { kind: 'host-key', name, offeredBy: 'library()' } as HostKey
    await expect(providerWith(definePlugin('library', [defineHostFunctions(key, () => ({}))]))).rejects.toThrow(
      'plugins: the host functions of library: key must be a key of hostKey()',
    )
  },
)

test.each([undefined, null, 5])('functions that are %j are a defect of the plugin', async (functions) => {
  const provider = await providerWith(definePlugin('library', [defineHostFunctions(shelf, () => functions as never)]))
  expect(() => provider.use(shelf)).toThrow('plugins: the host functions shelf of library are not an object')
})
