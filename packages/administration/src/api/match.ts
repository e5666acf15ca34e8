import type { Kit } from '@grantry/core'
import type { Method, Operation } from './operation.ts'

/** Finds the operation of a request. */
export type Match = (
  method: string,
  segments: readonly string[],
  kit: Pick<Kit, 'refuse'>,
) => { readonly operation: Operation; readonly ids: readonly string[] }

interface Resource {
  /** `undefined` for each segment that can have any value. */
  readonly segments: readonly (string | undefined)[]
  readonly operations: Map<Method, Operation>
}

const patternOf = (path: string): Resource['segments'] =>
  path
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) => (segment.startsWith('{') ? undefined : segment))

/** Returns the segments of a path that the pattern leaves open; `undefined` if the path does not fit. */
function idsIn(pattern: Resource['segments'], segments: readonly string[]): readonly string[] | undefined {
  if (pattern.length !== segments.length) return undefined
  if (!pattern.every((expected, index) => expected === undefined || expected === segments[index])) return undefined
  return segments.filter((_, index) => pattern[index] === undefined)
}

/** Creates the table of the operations by their paths. @throws OAuthError 404 or 405, when a request has none. */
export function createMatch(operations: readonly Operation[]): Match {
  const resources = new Map<string, Resource>()
  for (const operation of operations) {
    const { path, method } = operation
    const resource = resources.get(path) ?? { segments: patternOf(path), operations: new Map() }
    resource.operations.set(method, operation)
    resources.set(path, resource)
  }
  return (method, segments, kit) => {
    for (const resource of resources.values()) {
      const ids = idsIn(resource.segments, segments)
      if (ids === undefined) continue
      const operation = resource.operations.get((method === 'HEAD' ? 'GET' : method) as Method)
      if (operation !== undefined) return { operation, ids }
      const allowed = [...resource.operations.keys()].flatMap((known) => (known === 'GET' ? ['GET', 'HEAD'] : [known]))
      throw kit.refuse('invalid_request', 'The method is not allowed for this resource', 'method_not_allowed', {
        status: 405,
        allow: allowed.join(', '),
      })
    }
    throw kit.refuse('invalid_request', 'There is no such resource', 'path_unknown', { status: 404 })
  }
}
