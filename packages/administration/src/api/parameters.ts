import type { Kit } from '@grantry/core'
import * as v from 'valibot'
import type { Operation } from './operation.ts'
import { wrong } from './refusals.ts'
import { wrongParameter } from './wrong-parameter.ts'

const part = (key: unknown, isFirst: boolean): string =>
  typeof key === 'number' ? `[${key}]` : `${isFirst ? '' : '.'}${String(key)}`

/** Returns the path of a member, such as `redirectUris[0]`. */
const pathOf = (path: readonly { readonly key: unknown }[] = []): string =>
  path.map(({ key }, index) => part(key, index === 0)).join('')

/**
 * Returns the parameters that an operation has declared.
 *
 * @throws OAuthError 400, with the path of the first wrong member
 */
export function parametersOf({ params: schema, method }: Operation, given: unknown, kit: Pick<Kit, 'refuse'>): unknown {
  const noun = method === 'GET' || method === 'DELETE' ? 'parameter' : 'member'
  const parsed = v.safeParse(schema, Object(given), { abortEarly: true })
  if (parsed.success) {
    // The schemas ignore `constructor` and `prototype`.
    const ignored = Object.keys(Object(given)).find((member) => !Object.hasOwn(Object(parsed.output), member))
    if (ignored === undefined) return parsed.output
    throw wrong(kit, `The ${noun} ${ignored} is unknown`, ignored)
  }
  const [issue] = parsed.issues
  const member = pathOf(issue.path as readonly { readonly key: unknown }[] | undefined)
  throw wrong(kit, `The ${noun} ${member.slice(0, 200)} ${wrongParameter(issue)}`, member.slice(0, 200))
}
