// Rune: asks the guard about each tool call. Written by `rune hooks install --client opencode`; do not edit it.
import { spawn } from "node:child_process"

const COMMAND = %

// Runs the guard on one event. Whatever goes wrong is an error, so that the call does not run.
const ask = (event) => new Promise((resolve, reject) => {
  const fail = (why) => reject(new Error(`Rune (rune/bug): the guard did not answer: ${why}`))
  const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "pipe"] })
  let out = "", err = ""
  const timer = setTimeout(() => { child.kill("SIGKILL"); fail("it took too long") }, 10000)
  child.on("error", (error) => { clearTimeout(timer); fail(error.message) })
  child.stdin.on("error", () => {})
  child.stdout.on("data", (data) => { out += data })
  child.stderr.on("data", (data) => { err += data })
  child.on("close", (code) => {
    clearTimeout(timer)
    if (code !== 0) return fail(err.trim() || `it ended with ${code}`)
    try { resolve(out.trim() ? JSON.parse(out) : {}) } catch (error) { fail("its answer cannot be read") }
  })
  child.stdin.end(JSON.stringify(event))
})

export const Rune = async ({ directory }) => {
  let servers = []
  // Tools of MCP servers are called `server_tool`; a server's name may hold `_` as well.
  const context = (tool) => {
    const plain = (name) => name.replace(/[^a-zA-Z0-9_-]/g, "_")
    const found = servers.filter((name) => tool.startsWith(plain(name) + "_"))
    const server = found.sort((one, other) => other.length - one.length)[0]
    return server && { server_name: server, tool_name: tool.slice(plain(server).length + 1) }
  }
  const event = (name, input, more) => ({
    hook_source: "opencode", hook_event_name: name, session_id: input.sessionID, tool_use_id: input.callID,
    cwd: directory, tool_name: input.tool, mcp_context: context(input.tool), ...more,
  })
  return {
    config: async (config) => { servers = Object.keys(config.mcp || {}) },
    "chat.message": async (input, output) => {
      const text = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
      await ask({ hook_source: "opencode", hook_event_name: "UserPromptSubmit", session_id: input.sessionID,
        cwd: directory, prompt: text.join("\n") }).catch(() => {})
    },
    "tool.execute.before": async (input, output) => {
      const answer = await ask(event("PreToolUse", input, { tool_input: output.args }))
      if (answer.deny) throw new Error(answer.deny)
    },
    "tool.execute.after": async (input, output) => {
      const result = output.content ?? output.output ?? ""
      const answer = await ask(event("PostToolUse", input, { tool_input: input.args, tool_response: result }))
      if (answer.replace === undefined && answer.note === undefined) return
      if (Array.isArray(output.content)) {
        if (answer.replace !== undefined) {
          delete output.structuredContent
          output.content = [{ type: "text", text: answer.replace }]
        }
        if (answer.note !== undefined) output.content.push({ type: "text", text: answer.note })
      } else {
        if (answer.replace !== undefined) output.output = answer.replace
        if (answer.note !== undefined) output.output += "\n" + answer.note
      }
    },
  }
}
