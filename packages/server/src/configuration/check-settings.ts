import { closestName, configurationObject } from '@grantry/core'
import * as v from 'valibot'
import { acceptable } from '../check-rules/acceptable.ts'

function problemOf({ input }: { readonly input: unknown }): string {
  const closest = typeof input === 'string' ? closestName(input, acceptable) : undefined
  const hint = closest === undefined ? '' : `; did you mean ${closest}?`
  return `must be the id of a warning or an info of grantry check; errors cannot be accepted${hint}`
}

/** Only a start knows the rules of plugins. An id that finds nothing is reported as unused. */
const ofPlugin = v.pipe(v.string(problemOf), v.regex(/^[\w.-]+:[a-z][a-z0-9-]*$/u, problemOf))

/** Settings of `grantry check`. The server ignores them. */
export const checkSchema = configurationObject({
  /** The ids of findings that are no problem here. */
  accept: v.optional(
    v.array(v.union([v.picklist(acceptable, problemOf), ofPlugin], problemOf), 'must be an array of ids of findings'),
    [],
  ),
})
