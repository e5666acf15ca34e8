// What the JSON Schema of the configuration reads of the schemas of valibot.

/** The members of a schema or an action that are used. */
export interface Node {
  readonly kind?: string
  readonly type: string
  readonly pipe?: readonly Node[]
  readonly wrapped?: Node
  readonly default?: unknown
  readonly entries?: Readonly<Record<string, Node>>
  readonly item?: Node
  readonly value?: Node
  readonly options?: readonly unknown[]
  readonly literal?: unknown
  readonly requirement?: unknown
  readonly message?: unknown
}

/** The actions of an item of a pipe, which can be a schema with a pipe itself. */
export const actionsOf = (item: Node): readonly Node[] =>
  item.pipe?.flatMap(actionsOf) ?? (item.kind === 'schema' ? [] : [item])
