import type { ClientAuthentication, Endpoint, PluginPart, Task } from '@grantry/core'
import * as v from 'valibot'
import { describe, expectTypeOf, test } from 'vitest'
import { partKind, type SchemasOf } from '../../packages/core/src/parts/part-kind.ts'

const anything = v.any()

describe('the schemas of a part', () => {
  test('are those of all members of its contract, of each member of a union', () => {
    expectTypeOf<keyof SchemasOf<Task>>().toEqualTypeOf<'kind' | '~kind' | 'run'>()
    expectTypeOf<keyof SchemasOf<Endpoint>>().toEqualTypeOf<keyof Endpoint>()
    type Parts = PluginPart extends infer P ? (P extends unknown ? keyof P : never) : never
    expectTypeOf<keyof SchemasOf<PluginPart>>().toEqualTypeOf<Parts>()
    type Methods =
      | 'kind'
      | '~kind'
      | 'method'
      | 'consumes'
      | 'readsAuthorization'
      | 'implicit'
      | 'selective'
      | 'present'
      | 'alternative'
    expectTypeOf<keyof SchemasOf<ClientAuthentication>>().toEqualTypeOf<
      Methods | 'unguessable' | 'accepts' | 'verify'
    >()
  })

  test('cannot lack one, also one that parts can leave out', () => {
    const collect = () => []
    partKind<Task>('task', { title: 'task', schemas: () => ({ run: anything }), collect })
    // @ts-expect-error run is a member
    partKind<Task>('task', { title: 'task', schemas: () => ({}), collect })
    const { alternative: _, ...others } = {} as SchemasOf<ClientAuthentication>
    // @ts-expect-error alternative is a member
    partKind<ClientAuthentication>('client-authentication', { title: 'method', schemas: () => others, collect })
  })

  test('cannot have one that is not a member', () => {
    // @ts-expect-error interval is not a member
    const schemas: Omit<SchemasOf<Task>, 'kind' | '~kind'> = { run: anything, interval: anything }
    partKind<Task>('task', { title: 'task', schemas: () => schemas, collect: () => [] })
  })
})
