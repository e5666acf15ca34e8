import type { Json } from '@grantry/core'
import { type Bench, partsOf } from './bench.ts'
import { inSetting } from './setting.ts'
import type { Target } from './target.ts'

const isArray = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

/** Checks that the discovery document has what the plugin announces, and that the plugin provides it. */
export async function checkMetadata(bench: Bench): Promise<void> {
  const { findings, parts } = bench
  const methods = ['none', ...partsOf(parts, 'client-authentication').map(({ part }) => part.method)]
  for (const { plugin, part: fields } of partsOf(parts, 'fields')) {
    const part = `fields of ${plugin}`
    const target: Target = {
      part,
      singleUse: false,
      public: [],
      prepare: () => Promise.reject(new TypeError('Fields have no requests')),
    }
    await inSetting(bench, target, async ({ provider: { metadata } }) => {
      for (const [member, value] of Object.entries(fields.metadata ?? {})) {
        const published = metadata[member]
        const isPublished =
          isArray(value) && isArray(published)
            ? value.every((item) => published.includes(item))
            : JSON.stringify(published) === JSON.stringify(value)
        if (!isPublished) findings.add('metadata', part, `${member} is ${JSON.stringify(published)}`)
      }
    })
    const announced = fields.metadata?.token_endpoint_auth_methods_supported ?? []
    const absent = isArray(announced) && announced.find((method) => !methods.includes(String(method)))
    if (absent) findings.add('metadata', part, `it has no method of client authentication ${absent}`)
  }
}
