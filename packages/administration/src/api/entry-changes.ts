import { type EndpointKit, isJsonObject } from '@grantry/core'
import * as v from 'valibot'
import type { Members } from '../differences.ts'
import { idSchema, type Kind, tags } from '../kinds/kind.ts'
import { entryReply, versionOf, warningsOf } from './entry-reply.ts'
import { type DescribedMembers, nothing, type Operation, type OperationCall, operation } from './operation.ts'
import { wrong } from './refusals.ts'

/**
 * Applies a JSON Merge Patch: `null` removes a member, objects are merged, and any other value replaces the earlier one.
 *
 * @see RFC 7396 section 2
 */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch
  const merged = new Map<string, unknown>(Object.entries(isJsonObject(target) ? target : {}))
  for (const [member, value] of Object.entries(patch)) {
    if (value === null) merged.delete(member)
    else merged.set(member, mergePatch(merged.get(member), value))
  }
  return Object.fromEntries(merged)
}

const common: Readonly<Record<string, string>> = {
  version: 'it changes with each change',
  createdAt: 'it is set on creation',
  changedAt: 'it is set with each change',
}

/** Returns the absolute URL of an entry. */
const urlOf = (kit: EndpointKit, segment: string, id: string): string =>
  `${kit.endpointUrl('admin')}/${segment}/${encodeURIComponent(id)}`

function tagsIn(value: unknown, kit: EndpointKit): readonly string[] {
  const parsed = v.safeParse(tags.schema, value ?? [])
  if (parsed.success) return parsed.output ?? []
  throw wrong(kit, 'The member tags must be an array of at most 50 strings of 1 to 100 characters', 'tags')
}

/** Refuses members that are set in another way. */
function assertWritable(members: object, readOnly: Readonly<Record<string, string>>, kit: EndpointKit): void {
  for (const member of Object.keys(members)) {
    const how = Object.hasOwn(common, member) ? common[member] : Object.hasOwn(readOnly, member) && readOnly[member]
    if (how) throw wrong(kit, `The member ${member} cannot be set: ${how}`, member)
  }
}

const describedMembers = <T extends object>(
  { describe }: Kind<T>,
  readOnly: Readonly<Record<string, string>>,
): DescribedMembers => ({ describe, without: Object.keys(readOnly) })

export function addOperation<T extends object>(kind: Kind<T>): Operation {
  const { type, list: segment, title, protects, readOnly, hasOwnId = false, add } = kind
  return operation({
    id: `add${title}`,
    method: 'POST',
    path: `/${segment}`,
    summary: `Add a ${type.noun}`,
    params: v.looseObject({ [type.idMember]: hasOwnId ? v.optional(idSchema) : idSchema }),
    members: describedMembers(kind, readOnly),
    repeatable: true,
    protects,
    status: 201,
    async handle({ managers, params, kit }) {
      const { tags: labels, ...value } = params as Members
      assertWritable(value, readOnly, kit)
      const { entry, secret } = await add(managers, value as T, tagsIn(labels, kit))
      return {
        ...entryReply(type, entry, { ...(secret !== undefined && { secret }), ...warningsOf(type, entry) }),
        status: 201,
        location: urlOf(kit, segment, entry.id),
      }
    },
  })
}

/** Returns the version that a request names. */
const versionIn = <T extends object>({ managerOf }: Kind<T>, call: OperationCall, required = true) => {
  const {
    managers,
    ids: [id = ''],
  } = call
  const current = async () => (await managerOf(managers).show(id)).version
  return versionOf(call.request, call.kit, { required, current })
}

/** Returns the operation that changes members of an entry. */
export function changeOperation<T extends object>(kind: Kind<T>): Operation {
  const { type, list: segment, title, protects, notInChanges, managerOf } = kind
  const readOnly = { ...kind.readOnly, ...notInChanges }
  const { idMember } = type
  return operation({
    id: `change${title}`,
    method: 'PATCH',
    path: `/${segment}/{id}`,
    summary: `Change members of a ${type.noun}: a JSON Merge Patch (RFC 7396)`,
    params: v.looseObject({}),
    members: describedMembers(kind, readOnly),
    conditional: true,
    protects,
    status: 200,
    async handle(call) {
      const {
        managers,
        params,
        kit,
        ids: [id = ''],
      } = call
      const { tags: labels, ...patch } = params as Members
      assertWritable(patch, readOnly, kit)
      const version = await versionIn(kind, call)
      const merged = (value: T): T => ({ ...(mergePatch(value, patch) as T), [idMember]: patch[idMember] ?? id })
      const options = { version, ...('tags' in params && { tags: tagsIn(labels, kit) }) }
      const changed = await managerOf(managers).replace(id, merged, options)
      return entryReply(type, changed, warningsOf(type, changed))
    },
  })
}

const force = v.optional(v.picklist(['true', 'false']))

export function removeOperation<T extends object>(kind: Kind<T>): Operation {
  const { title, list: segment, type, protects, managerOf, forceRemoval } = kind
  return operation({
    id: `remove${title}`,
    method: 'DELETE',
    path: `/${segment}/{id}`,
    summary: `Remove a ${type.noun}${forceRemoval === undefined ? '' : '. `force`: also from the clients that have it'}`,
    params: forceRemoval === undefined ? nothing : v.strictObject({ force }),
    conditional: true,
    protects,
    status: 204,
    async handle(call) {
      const {
        managers,
        params,
        ids: [id = ''],
      } = call
      const version = await versionIn(kind, call)
      if (forceRemoval !== undefined && (params as Members).force === 'true')
        await forceRemoval(managers, id, { version })
      else await managerOf(managers).remove(id, { version })
      return { status: 204 }
    },
  })
}

/** Ten years in seconds: more than any rotation needs. */
const longestOverlap = 315_360_000
const overlap = v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(longestOverlap)), 0)

/** Returns the operation that adds a secret to an entry. */
export function rotateOperation<T extends object>(
  kind: Kind<T>,
  { summary, rotate }: NonNullable<Kind<T>['rotation']>,
): Operation {
  const { title, list: segment, type, protects } = kind
  return operation({
    id: `rotate${title}Secret`,
    method: 'POST',
    path: `/${segment}/{id}/rotate-secret`,
    summary,
    params: v.strictObject({ overlap }),
    repeatable: true,
    protects,
    status: 200,
    async handle(call) {
      const {
        managers,
        params,
        ids: [id = ''],
      } = call
      const version = await versionIn(kind, call, false)
      const { entry, secret } = await rotate(managers, id, params.overlap, { version })
      return entryReply(type, entry, { secret })
    },
  })
}
