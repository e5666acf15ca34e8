import type {
  ClientAuthentication,
  CredentialRefusal,
  GrantResult,
  Plugin,
  PluginPart,
  Plugins,
  ProofMethod,
} from '@grantry/core'

/** The results and errors of the parts of a plugin. */
export interface Probe {
  readonly plugins: Plugins
  /** The errors that the parts have thrown, without those of the kit that they pass on. */
  readonly thrown: { readonly plugin: string; readonly error: unknown }[]
  /** The reasons that its methods of client authentication have returned, without the name of the plugin. */
  readonly reasons: unknown[]
  /** The results of its grants. */
  readonly results: GrantResult[]
}

type Call = (...args: readonly unknown[]) => unknown

/** Calls a function that can return a promise. */
function watched(call: () => unknown, onThrow: (error: unknown) => void, onReturn?: (value: unknown) => void): unknown {
  const fail = (error: unknown): never => {
    onThrow(error)
    throw error
  }
  const pass = (value: unknown): unknown => {
    onReturn?.(value)
    return value
  }
  try {
    const value = call()
    return value instanceof Promise ? value.then(pass, fail) : pass(value)
  } catch (error) {
    return fail(error)
  }
}

/** Observes the parts of plugins. They behave as before. */
export function createProbe(input: Plugins): Probe {
  const thrown: { plugin: string; error: unknown }[] = []
  const reasons: unknown[] = []
  const results: GrantResult[] = []
  const fromKit = new WeakSet<object>()

  function watchKit<K>(kit: K): K {
    const note = (error: unknown): void => {
      if (typeof error === 'object' && error !== null) fromKit.add(error)
    }
    const members = Object.entries(kit as Record<string, unknown>).map(([name, member]) => {
      if (name === 'records') return [name, watchKit(member)]
      if (typeof member !== 'function') return [name, member]
      return [name, (...args: readonly unknown[]) => watched(() => (member as Call)(...args), note)]
    })
    return Object.fromEntries(members) as K
  }

  /** @param kitAt the position of the kit in the arguments */
  function watch(plugin: string, call: unknown, kitAt: number, onReturn?: (value: unknown) => void): Call {
    const note = (error: unknown): void => {
      if (!(typeof error === 'object' && error !== null && fromKit.has(error))) thrown.push({ plugin, error })
    }
    return (...args) => {
      const passed = args.map((arg, index) => (index === kitAt ? watchKit(arg) : arg))
      return watched(() => (call as Call)(...passed), note, onReturn)
    }
  }

  function watchMethod(plugin: string, method: ClientAuthentication): ClientAuthentication {
    const present = watch(plugin, method.present.bind(method), 2)
    const { verify } = method
    if (verify === undefined) return { ...method, present } as ClientAuthentication
    const note = (outcome: unknown): void => {
      if (typeof outcome === 'object' && outcome !== null) reasons.push((outcome as CredentialRefusal).reason)
    }
    return { ...method, present, verify: watch(plugin, verify.bind(method), 2, note) } as ProofMethod
  }

  function watchPart(plugin: string, part: PluginPart): PluginPart {
    switch (part.kind) {
      case 'grant': {
        const note = (result: unknown): void => {
          if (typeof result === 'object' && result !== null) results.push(result as GrantResult)
        }
        return { ...part, handle: watch(plugin, part.handle.bind(part), 1, note) } as PluginPart
      }
      case 'endpoint':
        return { ...part, handle: watch(plugin, part.handle.bind(part), 1) } as PluginPart
      case 'grant-check':
        return { ...part, check: watch(plugin, part.check.bind(part), 1) } as PluginPart
      case 'client-authentication':
        return watchMethod(plugin, part)
      case 'token-binding':
        return { ...part, prove: watch(plugin, part.prove.bind(part), 1) } as PluginPart
      default:
        return part
    }
  }

  function watchAll(entry: Plugins): Plugins {
    if (!entry) return entry
    if (Array.isArray(entry)) return entry.map(watchAll)
    const single = entry as Exclude<typeof entry, readonly Plugins[]>
    if (single.kind === 'grant') return watchPart(single.grantType, single) as typeof single
    const { name, parts } = single as Plugin
    return { ...single, parts: parts.map((part) => watchPart(name, part)) } as Plugin
  }

  return { plugins: watchAll(input), thrown, reasons, results }
}
