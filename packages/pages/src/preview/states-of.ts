/** The members of a view that decide what kind of page it is. */
type Kind = 'step' | 'purpose' | 'change' | 'kind'

/** The values of a member, in all members of a union. */
type ValuesOf<V, Name extends string> = V extends { readonly [Key in Name]?: infer Value }
  ? Extract<Value, string>
  : never

/** A page has a state for each kind and problem of its view, a usual one if it is of one kind, and others. */
type StatesOf<V> = Readonly<
  Record<([ValuesOf<V, Kind>] extends [never] ? 'usual' : never) | ValuesOf<V, Kind | 'problem'>, V>
> &
  Readonly<Record<string, V>>

/** The states of pages. Without one for a page, or for a value of its view, the types do not fit. */
export type StatesOfPages<Pages> = {
  readonly [Page in Exclude<keyof Pages, 'localeOf'>]: Pages[Page] extends (view: infer View, locale: string) => unknown
    ? StatesOf<View>
    : never
}
