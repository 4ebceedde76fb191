import { expect, it } from "vitest";
import { agentAddress } from "../../../../src/connector-host/agent-socket/agent-address.js";
import { controlAddress } from "../../../../src/connector-host/control/control-address.js";

it("H-23: agents have a socket of their own, beside the one of the host's owner", () => {
  expect(agentAddress("/srv/state", "linux")).toEqual({
    kind: "socket",
    path: "/srv/state/agent.sock",
    stagingDirectory: "/srv/state/agent.d",
    stagingPath: "/srv/state/agent.d/s",
  });
  const pipe = agentAddress("/State", "win32");
  expect(pipe.path).toMatch(/^\\\\\.\\pipe\\remote-connector-agent-[0-9a-f]{32}$/);
  expect(agentAddress("/state/", "win32")).toEqual(pipe);
  expect(controlAddress("/State", "win32")).not.toEqual(pipe);
});
