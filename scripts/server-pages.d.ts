export function serverPagesDefine(): Record<string, string>
