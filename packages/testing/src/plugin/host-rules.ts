import type { HostFunctions } from '@grantry/core'
import type { Bench } from './bench.ts'
import { createShared, openSetting } from './setting.ts'
import type { Target } from './target.ts'

/** Checks that host functions can be created, and that two providers with an instance of the plugin do not share them. */
export async function checkHostFunctions(bench: Bench, { key }: HostFunctions): Promise<void> {
  const part = `host functions ${key.name}`
  const target: Target = {
    part,
    singleUse: false,
    public: [],
    prepare: () => Promise.reject(new TypeError('Host functions have no requests')),
  }
  const instance = bench.instance()
  const settings = await Promise.all([1, 2].map(() => openSetting(bench, target, { shared: createShared(), instance })))
  try {
    const [first, second] = settings.map(({ provider }) => provider.use(key))
    if (first === second) bench.findings.add('host-functions', part, 'two providers have the same')
  } catch (error) {
    bench.findings.add('host-functions', part, `creating them threw ${String(error)}`)
  }
  for (const { finish } of settings) finish()
}
