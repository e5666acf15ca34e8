/** A value that JSON can hold. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

export type JsonObject = { readonly [name: string]: Json }

/** Some ports answer at once (an array, a map), others ask a database. */
export type MaybePromise<T> = T | Promise<T>
