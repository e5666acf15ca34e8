export const hashFunctionFiles: readonly string[]
export function hashFunctionsDefine(): Record<string, string>
