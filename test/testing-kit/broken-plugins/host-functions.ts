import { defineHostFunctions, definePlugin, type EndpointKit, hostKey } from '@grantry/core'
import type { Broken } from './tickets.ts'

const notes = hostKey<object>('notes', 'notes()')

export const notesWith = (create: (kit: EndpointKit) => object) =>
  definePlugin('notes', [defineHostFunctions(notes, create)])

let kept: object | undefined

export const brokenHostFunctions: readonly Broken[] = [
  {
    defect: 'keeps the functions for the host of its first provider',
    plugin: notesWith((kit) => {
      kept ??= { now: kit.now }
      return kept
    }),
    cases: {},
    rules: ['host-functions'],
  },
  {
    defect: 'cannot create its functions for the host',
    plugin: notesWith(() => {
      throw new TypeError('no notes')
    }),
    cases: {},
    rules: ['host-functions'],
  },
]
