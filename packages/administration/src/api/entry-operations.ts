import * as v from 'valibot'
import type { Kind } from '../kinds/kind.ts'
import { shownEntry } from '../managed-entry.ts'
import { addOperation, changeOperation, removeOperation, rotateOperation } from './entry-changes.ts'
import { pageQuery, pageReply } from './entry-page.ts'
import { entryReply } from './entry-reply.ts'
import { type Operation, operation } from './operation.ts'

/** Returns the operations that list, read, add, change and remove entries of a kind, and rotate their secrets. */
export function entryOperations<T extends object>(kind: Kind<T>): readonly Operation[] {
  const { type, list: segment, title, managerOf } = kind
  const { idMember } = type
  const listAll = operation({
    id: `list${title}s`,
    method: 'GET',
    path: `/${segment}`,
    summary: `List the ${segment} in the storage, by their ids`,
    params: v.strictObject({
      ...pageQuery,
      prefix: v.optional(v.pipe(v.string(), v.maxLength(100))),
      tag: v.optional(v.pipe(v.string(), v.maxLength(100))),
      enabled: v.optional(v.picklist(['true', 'false'])),
    }),
    status: 200,
    async handle({ managers, params, kit }) {
      const { limit, enabled, after, ...filter } = params
      const isEnabled = enabled === undefined ? undefined : enabled === 'true'
      const page = await managerOf(managers).page({ ...filter, after, limit, enabled: isEnabled })
      const unreadable = page.unreadable.map((id) => ({ [idMember]: id, unreadable: true }))
      const items = [...page.entries.map((entry) => shownEntry(type, entry)), ...unreadable]
      return pageReply(kit, `/${segment}`, { items, next: page.next }, { ...filter, enabled, limit: String(limit) })
    },
  })
  const get = operation({
    id: `get${title}`,
    method: 'GET',
    path: `/${segment}/{id}`,
    summary: `Read a ${type.noun}`,
    params: v.strictObject({}),
    status: 200,
    handle: async ({ managers, ids: [id = ''] }) => entryReply(type, await managerOf(managers).show(id)),
  })
  return [
    listAll,
    addOperation(kind),
    get,
    changeOperation(kind),
    removeOperation(kind),
    ...(kind.rotation === undefined ? [] : [rotateOperation(kind, kind.rotation)]),
  ]
}
